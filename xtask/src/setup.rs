//! Set-up: finds missing needs, explains them, installs their packages, and checks again.

use std::io::IsTerminal;

use anyhow::{Result, bail};

use crate::args::Parsed;
use crate::context::Context;
use crate::machine::InspectedMachine;
use crate::packages::{MPI, Need, commands};
use crate::process::status;
use crate::{mpi_binding, say};

/// Returns the context of a command after all its needs are met, with or without MPI; or the reason
/// for a failure.
pub(crate) fn ready(needs: &[Need], with_mpi: bool, flags: &Parsed) -> Result<Context> {
    let mut context = Context::new()?;
    install_missing(&mut context, &[needs, if with_mpi { MPI } else { &[] }].concat(), flags)?;
    if with_mpi {
        context.mpi = Some(mpi_binding::ready(&context)?);
    }
    Ok(context)
}

/// Provides the needs, or returns the reason for a failure. Takes milliseconds when nothing is
/// missing.
fn install_missing(context: &mut Context, needs: &[Need], flags: &Parsed) -> Result<()> {
    let missing = if flags.has("--no-setup") { Vec::new() } else { missing(&context.machine, needs) };
    if missing.is_empty() {
        return Ok(());
    }
    say!("Set-up: these are missing on this machine.\n{}", describe(&missing));
    let commands = commands(&context.machine, &missing.iter().map(|(need, _)| *need).collect::<Vec<_>>())?;
    say!("These commands install them:\n  {}", commands.join("\n  "));
    if !has_consent(&context.machine, flags)? {
        bail!("nothing was installed (`--no-setup` continues without set-up)");
    }
    for line in &commands {
        say!("==> {line}");
        let mut words = line.split_whitespace();
        let status = status(context.command(words.next().unwrap_or_default()).args(words))?;
        // Partly fetched lists of packages may suffice: only the check after the installation
        // decides.
        if !status.success() {
            say!("The command failed ({status}).");
        }
    }
    *context = Context::new()?;
    let missing = self::missing(&context.machine, needs);
    if !missing.is_empty() {
        bail!("after these commands these are still missing:\n{}", describe(&missing));
    }
    say!("Set-up: nothing is missing now.\n");
    Ok(())
}

/// Text of the missing needs.
fn describe(missing: &[(Need, String)]) -> String {
    missing.iter().map(|(need, detail)| format!("  * {}{detail}", need.why)).collect::<Vec<_>>().join("\n")
}

/// Requests consent to the installation. Returns true without a question for `--yes`, without a
/// terminal, and if the variable `CI` is set.
fn has_consent(machine: &InspectedMachine, flags: &Parsed) -> Result<bool> {
    let is_interactive =
        std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && machine.var("CI").is_none();
    if flags.has("--yes") || !is_interactive {
        return Ok(true);
    }
    say::out("Run them now? [Y/n] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

/// Returns the needs that are not met, each with a description of the software that was found
/// instead.
pub(crate) fn missing(machine: &InspectedMachine, needs: &[Need]) -> Vec<(Need, String)> {
    needs.iter().filter_map(|need| (need.missing)(machine).map(|detail| (*need, detail))).collect()
}

/// Text of the commands that would provide a need, or the reason why none exists.
pub(crate) fn remedy(machine: &InspectedMachine, need: &Need) -> String {
    commands(machine, &[*need]).map_or_else(|problem| format!("{problem:#}"), |lines| lines.join(" && "))
}

#[cfg(test)]
#[path = "../tests/unit/setup.rs"]
mod tests;
