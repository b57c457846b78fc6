//! `cargo xtask ci`: checks of the sources, then the steps of `cargo xtask test`.

use anyhow::Result;

use crate::args::{Parsed, parse};
use crate::packages::{GRAPHICS, TOOLS, WINDOWS};
use crate::step::Step;
use crate::steps::{CHECKS, TESTS};
use crate::{run_steps, setup};

const HELP: &str = "\
cargo xtask ci [OPTIONS]

Runs everything that a change must pass. Sets this machine up (with your consent before it installs anything), then runs
these checks of the sources, and then the steps of `cargo xtask test`:

{checks}

{tests}

The summary at the end repeats all failures. The exit code is 0 only if no step fails.

{flags}
{setup}";

/// All steps, in the order in which they run.
fn all_steps() -> Vec<&'static Step> {
    CHECKS.iter().chain(&TESTS).collect()
}

/// Parses the arguments; the help contains the list of steps.
fn parse_arguments(arguments: &[String]) -> Result<Option<Parsed>> {
    let help = HELP.replace("{checks}", &run_steps::describe(&CHECKS));
    let help = help.replace("{tests}", &run_steps::describe(&TESTS)).replace("{flags}", run_steps::FLAGS);
    parse("ci", &help, arguments)
}

pub(crate) fn run(arguments: &[String]) -> Result<u8> {
    let Some(parsed) = parse_arguments(arguments)? else { return Ok(0) };
    let steps = run_steps::select(&all_steps(), &parsed)?;
    if parsed.has("--list") {
        run_steps::list(&steps);
        return Ok(0);
    }
    let context = setup::ready(&[TOOLS, WINDOWS, GRAPHICS].concat(), !parsed.has("--no-mpi"), &parsed)?;
    Ok(run_steps::run(&context, &steps))
}

#[cfg(test)]
#[path = "../tests/unit/ci.rs"]
mod tests;
