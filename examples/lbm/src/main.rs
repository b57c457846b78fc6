//! Command-line program for lattice Boltzmann flow on several ranks.
#![forbid(unsafe_code)]

mod compare;
mod end_conditions;
mod field_files;
mod flow_renderer;
mod flow_run;
mod frame_writer;
mod inputs;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../support/interrupt.rs"]
mod interrupt;
mod legend;
mod options;
mod outline;
mod output_paths;
mod outputs;
mod parse;
mod picture_options;
mod prepared_case;
mod report;
mod restart;
mod run;
mod run_state;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../support/say.rs"]
mod say;
mod scene;
mod setup;
mod slice_picture;
mod solid;
mod steady;
mod surface;
mod tables;
#[cfg_attr(not(feature = "view"), path = "no_view.rs")]
mod view;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../support/words.rs"]
mod words;

use std::process::ExitCode;

use zippy::Result;

use self::options::Options;
use self::say::complain;

fn main() -> ExitCode {
    zippy::prepare_process();
    match run_program(&Options::read(words::with_negative_numbers(std::env::args_os()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format_args!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run_program(options: &Options) -> Result<()> {
    options.check()?;
    if options.pictures.view {
        return view::run("Zippy flow", |link| {
            let ranks = zippy::run_with(options.config(), |world| {
                link.started(world);
                run::run_all(world, options, Some(link))
            });
            ranks.map(drop)
        });
    }
    zippy::run_with(options.config(), |world| run::run_all(world, options, None)).map(drop)
}
