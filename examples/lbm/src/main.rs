//! Lattice Boltzmann flow on several ranks. `--help` says how.
#![forbid(unsafe_code)]

mod compare;
mod drawing;
mod ending;
mod files;
mod flat;
mod inputs;
#[path = "../../support/interrupt.rs"]
mod interrupt;
mod legend;
#[cfg(feature = "view")]
#[path = "../../support/link.rs"]
mod link;
mod made;
mod numbers;
mod options;
mod outline;
mod outputs;
mod picture;
mod places;
mod report;
mod restart;
mod run;
#[path = "../../support/say.rs"]
mod say;
mod scene;
mod setup;
mod showing;
mod solid;
mod steady;
mod surface;
mod tables;
#[cfg_attr(not(feature = "view"), path = "no_view.rs")]
mod view;
#[path = "../../support/words.rs"]
mod words;

use std::process::ExitCode;

use zippy::Result;

use self::options::Options;
use self::say::complain;

fn main() -> ExitCode {
    zippy::prepare_process();
    match program(&Options::read(words::with_negative_numbers(std::env::args_os()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format_args!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn program(options: &Options) -> Result<()> {
    options.check()?;
    if options.showing.view {
        return view::run("Zippy flow", |link| {
            let ranks = zippy::run_with(options.config(), |world| {
                link.started(world);
                run::all(world, options, Some(link))
            });
            ranks.map(drop)
        });
    }
    zippy::run_with(options.config(), |world| run::all(world, options, None)).map(drop)
}
