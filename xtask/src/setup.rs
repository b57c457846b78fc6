//! Set-up: find what is missing, say what and why and how, install it, look again.

use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

use crate::args::Parsed;
use crate::context::Context;
use crate::machine::{Machine, Os};
use crate::packages::{Action, Need, commands};
use crate::process::{output, status};
use crate::{mpi, say};

/// What running a program with thread ranks needs.
pub const GRAPHICS: &[Need] = &[Need::Graphics];

/// What building and running with MPI needs.
pub const MPI: &[Need] = &[Need::Graphics, Need::CCompiler, Need::MpiLibrary, Need::MpiLauncher, Need::Libclang];

/// What the sources are checked and tested with.
pub const CHECKS: &[Need] = &[Need::Rustfmt, Need::Clippy, Need::Screen];

/// Provides what is needed, or says why it cannot. Takes milliseconds when nothing is missing.
pub fn ensure(context: &mut Context, needs: &[Need], flags: &Parsed) -> Result<(), String> {
    if flags.has("--no-setup") {
        return Ok(());
    }
    let missing = missing(&context.machine, needs);
    if missing.is_empty() {
        return Ok(());
    }
    say!("Set-up: {} missing on this machine.", if missing.len() == 1 { "one thing is" } else { "some things are" });
    say!("{}", told(&missing));
    let actions = actions(&context.machine, &missing.iter().map(|(need, _)| *need).collect::<Vec<_>>())?;
    say!("These commands install it:");
    actions.iter().for_each(|action| say!("  {}", action.command));
    if !agreed(&context.machine, flags)? {
        return Err("nothing was installed (`--no-setup` goes on without)".into());
    }
    for action in &actions {
        perform(context, action)?;
    }
    *context = Context::new()?;
    let still = self::missing(&context.machine, needs);
    if !still.is_empty() {
        return Err(format!("the commands succeeded, but this is still missing:\n{}", told(&still)));
    }
    say!("Set-up: everything is here now.\n");
    Ok(())
}

/// What is missing, for people.
fn told(missing: &[(Need, String)]) -> String {
    let found = |detail: &str| if detail.is_empty() { String::new() } else { format!("\n    found: {detail}") };
    missing.iter().map(|(need, detail)| format!("  * {}{}", need.why(), found(detail))).collect::<Vec<_>>().join("\n")
}

/// Asks once where someone can answer.
fn agreed(machine: &Machine, flags: &Parsed) -> Result<bool, String> {
    let someone = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && machine.var("CI").is_none();
    if flags.has("--yes") || !someone {
        return Ok(true);
    }
    say::out("Run them now? [Y/n] ");
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(|error| error.to_string())?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

fn perform(context: &Context, Action { command, retry_after }: &Action) -> Result<(), String> {
    let run = |line: &str| {
        say!("==> {line}");
        let words: Vec<&str> = line.split_whitespace().collect();
        status(context.command(words[0]).args(&words[1..]))
    };
    let mut ended = run(command)?;
    if let (false, Some(first)) = (ended.success(), retry_after) {
        say!("That failed; the package lists may be out of date.");
        run(first)?;
        ended = run(command)?;
    }
    if ended.success() { Ok(()) } else { Err(format!("`{command}` failed ({ended})")) }
}

/// Which needs are not met, each with what was found instead.
pub fn missing(machine: &Machine, needs: &[Need]) -> Vec<(Need, String)> {
    needs.iter().filter_map(|need| problem(machine, *need).map(|detail| (*need, detail))).collect()
}

/// The commands that would provide something, for a person to type; or why there are none.
pub fn remedy(machine: &Machine, need: Need) -> String {
    let line = |actions: Vec<Action>| actions.into_iter().map(|action| action.command).collect::<Vec<_>>().join(" && ");
    actions(machine, &[need]).map_or_else(|problem| problem, line)
}

fn actions(machine: &Machine, missing: &[Need]) -> Result<Vec<Action>, String> {
    let compiler = mpi::compiler(machine).and_then(|compiler| mpi::family_of_compiler(&compiler).ok());
    let launcher = || mpi::launchers(machine).iter().find_map(|launcher| mpi::family_of_launcher(launcher));
    let family = compiler.or_else(|| launcher().map(|(family, _)| family));
    let root = output(Command::new("id").arg("-u")).is_ok_and(|user| user == "0");
    commands(machine, missing, family, root)
}

fn problem(machine: &Machine, need: Need) -> Option<String> {
    let absent = |present: bool| (!present).then(String::new);
    match need {
        Need::Graphics => machine.graphics_problem(),
        Need::CCompiler => absent(["cc", "gcc", "clang"].iter().any(|name| machine.which(name).is_some())),
        Need::MpiLibrary => absent(mpi::compiler(machine).is_some()),
        Need::MpiLauncher => absent(!mpi::launchers(machine).is_empty()),
        Need::Libclang => absent(machine.libclang().is_some()),
        // Elsewhere no test opens a window. Without this library none opens there.
        Need::Screen => absent(
            machine.os != Os::Linux
                || machine.which("Xvfb").is_some() && machine.library_exists("libxkbcommon-x11.so.0"),
        ),
        Need::Rustfmt => absent(has_component(machine, "fmt", "rustfmt")),
        Need::Clippy => absent(has_component(machine, "clippy", "clippy-driver")),
    }
}

/// Rustup puts proxies on the search path for components that are not installed, so look beside the real Cargo first.
fn has_component(machine: &Machine, subcommand: &str, driver: &str) -> bool {
    let cargo = machine.var("CARGO").unwrap_or("cargo");
    if let Some(bin) = Path::new(cargo).parent().filter(|bin| bin.is_absolute()) {
        let beside = |name: String| machine.exists(bin.join(name));
        if beside(format!("cargo-{subcommand}")) && beside(driver.into()) {
            return true;
        }
    }
    output(Command::new(cargo).args([subcommand, "--version"])).is_ok()
}

#[cfg(test)]
#[path = "../tests/unit/setup.rs"]
mod tests;
