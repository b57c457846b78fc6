//! `cargo xtask test`: the tests of the project, as a list of steps.

use anyhow::{Result, anyhow};

use crate::args::{Parsed, parse};
use crate::packages::{GRAPHICS, TOOLS, WINDOWS};
use crate::step::Step;
use crate::steps::{DRIVERS, NO_DRIVER, QUICK, TESTS};
use crate::{run_steps, setup, third_party};

const HELP: &str = "\
cargo xtask test [OPTIONS]

Shows that the software works. Sets this machine up (with your consent before it installs anything), then runs these steps
and prints a summary, which repeats all failures. The exit code is 0 only if all steps pass. All steps share one build
profile. `cargo xtask ci` runs these steps after checks of the sources.

{steps}

{flags}
  --quick               only the most informative checks that take a minute, for use between two edits
  --drivers             only tests with a device, on another Vulkan driver: SwiftShader, or the driver in VK_DRIVER_FILES
  --no-driver           only tests with a device, without any Vulkan driver: kernels are native; tests that draw or compute
                        by a driver are skipped, and the summary counts them
{setup}";

/// Parses the arguments; the help contains the list of steps.
fn parse_arguments(arguments: &[String]) -> Result<Option<Parsed>> {
    let help = HELP.replace("{steps}", &run_steps::describe(&TESTS)).replace("{flags}", run_steps::FLAGS);
    parse("test", &help, arguments)
}

pub(crate) fn run(arguments: &[String]) -> Result<u8> {
    let Some(parsed) = parse_arguments(arguments)? else { return Ok(0) };
    let steps = selected_steps(&parsed)?;
    if parsed.has("--list") {
        run_steps::list(&steps);
        return Ok(0);
    }
    let without_driver = parsed.has("--no-driver");
    let mut needs = WINDOWS.to_vec();
    needs.extend(if without_driver { &[] } else { GRAPHICS });
    needs.extend(if parsed.has("--quick") { TOOLS } else { &[] });
    let mut context = setup::ready(&needs, !without_driver && !parsed.has("--no-mpi"), &parsed)?;
    if parsed.has("--drivers") {
        third_party::use_other_driver(&mut context)?;
    }
    Ok(run_steps::run(&context, &steps))
}

fn selected_steps(parsed: &Parsed) -> Result<Vec<&'static Step>> {
    let mut flags = vec!["--quick", "--drivers", "--no-driver", "--only", "--skip"];
    flags.retain(|flag| parsed.has(flag));
    match flags[..] {
        ["--quick"] => Ok(QUICK.iter().collect()),
        ["--drivers"] => Ok(DRIVERS.iter().collect()),
        ["--no-driver"] => Ok(NO_DRIVER.iter().collect()),
        [flag @ ("--quick" | "--drivers" | "--no-driver"), other, ..] => {
            Err(anyhow!("{flag} selects the steps itself, so it cannot be used with {other}"))
        }
        _ => run_steps::select(&TESTS.iter().collect::<Vec<_>>(), parsed),
    }
}

#[cfg(test)]
#[path = "../tests/unit/test.rs"]
mod tests;
