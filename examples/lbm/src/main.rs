//! Lattice Boltzmann flow on several ranks. `--help` says how.

mod compare;
mod ending;
mod files;
mod inputs;
mod made;
mod options;
mod picture;
mod report;
mod run;
#[path = "../../support/say.rs"]
mod say;
mod solid;
mod steady;
mod tables;

use std::process::ExitCode;

use clap::Parser;
use zippy::Result;

use self::options::Options;
use self::say::complain;

fn main() -> ExitCode {
    match program(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format_args!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn program(options: &Options) -> Result<()> {
    options.check()?;
    zippy::run_with(options.config(), |world| run::all(world, options)).map(drop)
}
