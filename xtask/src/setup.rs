//! Set-up: find what is missing, say what and why and how, install it, look again.

use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

use crate::args::Parsed;
use crate::context::Context;
use crate::machine::{Machine, Os};
use crate::mpi;
use crate::packages::{Action, Manager, Need, Situation, commands};
use crate::say;

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
    for (need, detail) in &missing {
        let detail = if detail.is_empty() { String::new() } else { format!("\n    found: {detail}") };
        say!("  * {}{detail}", need.why());
    }
    let actions = commands(&situation(&context.machine, missing.iter().map(|(need, _)| *need).collect()))?;
    say!("These commands install it:");
    for action in &actions {
        say!("  {}", action.command.join(" "));
    }
    if !agreed(&context.machine, flags)? {
        return Err("nothing was installed (`--no-setup` goes on without)".into());
    }
    for action in &actions {
        perform(context, action)?;
    }
    *context = Context::new()?;
    let still: Vec<String> = self::missing(&context.machine, needs)
        .iter()
        .map(|(need, detail)| {
            format!("\n  * {}{}{detail}", need.why(), if detail.is_empty() { "" } else { "; found: " })
        })
        .collect();
    if !still.is_empty() {
        return Err(format!("the commands succeeded, but this is still missing:{}", still.concat()));
    }
    say!("Set-up: everything is here now.\n");
    Ok(())
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

fn perform(context: &Context, action: &Action) -> Result<(), String> {
    let run = |command: &[String]| {
        say!("==> {}", command.join(" "));
        let status = context.command(&command[0]).args(&command[1..]).status();
        status.map_err(|error| format!("{} could not be started: {error}", command[0]))
    };
    let mut status = run(&action.command)?;
    if let (false, Some(first)) = (status.success(), &action.retry_after) {
        say!("That failed; the package lists may be out of date.");
        run(first)?;
        status = run(&action.command)?;
    }
    if status.success() { Ok(()) } else { Err(format!("`{}` failed ({status})", action.command.join(" "))) }
}

/// Which needs are not met, each with what was found instead.
pub fn missing(machine: &Machine, needs: &[Need]) -> Vec<(Need, String)> {
    needs.iter().filter_map(|need| problem(machine, *need).map(|detail| (*need, detail))).collect()
}

/// The commands that would provide something, for a person to type; or why there are none.
pub fn remedy(machine: &Machine, need: Need) -> String {
    let line =
        |actions: Vec<Action>| actions.iter().map(|action| action.command.join(" ")).collect::<Vec<_>>().join(" && ");
    commands(&situation(machine, vec![need])).map_or_else(|problem| problem, line)
}

fn problem(machine: &Machine, need: Need) -> Option<String> {
    let absent = |present: bool| (!present).then(String::new);
    match need {
        Need::Graphics => machine.graphics_problem(),
        Need::CCompiler => absent(["cc", "gcc", "clang"].iter().any(|name| machine.which(name).is_some())),
        Need::MpiLibrary => absent(mpi::compiler(machine).is_some()),
        Need::MpiLauncher => absent(!mpi::launchers(machine).is_empty()),
        Need::Libclang => absent(machine.libclang().is_some()),
        // Elsewhere no test opens a window.
        Need::Screen => absent(machine.os != Os::Linux || screen(machine)),
        Need::Rustfmt => absent(has_component(machine, "fmt", "rustfmt")),
        Need::Clippy => absent(has_component(machine, "clippy", "clippy-driver")),
    }
}

/// A virtual screen, and the library without which no window opens there.
fn screen(machine: &Machine) -> bool {
    machine.which("Xvfb").is_some() && machine.library_exists("libxkbcommon-x11.so.0")
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
    Command::new(cargo).args([subcommand, "--version"]).output().is_ok_and(|output| output.status.success())
}

fn situation(machine: &Machine, missing: Vec<Need>) -> Situation {
    let candidates: &[Manager] = match machine.os {
        Os::Linux => &[Manager::Apt, Manager::Dnf, Manager::Pacman],
        Os::Mac => &[Manager::Brew],
        Os::Other => &[],
    };
    let manager = candidates.iter().copied().find(|manager| machine.which(manager.program()).is_some());
    let half = || {
        let compiler = mpi::compiler(machine).and_then(|compiler| mpi::family_of_compiler(&compiler).ok());
        let launcher = || mpi::launchers(machine).iter().find_map(|launcher| mpi::family_of_launcher(launcher));
        compiler.or_else(|| launcher().map(|(family, _)| family))
    };
    Situation {
        mpi: half(),
        lists: manager.is_none_or(|manager| has_lists(machine, manager)),
        root: Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0"),
        sudo: machine.which("sudo").is_some(),
        rustup: machine.which("rustup").is_some(),
        macos: machine.os == Os::Mac,
        manager,
        missing,
    }
}

fn has_lists(machine: &Machine, manager: Manager) -> bool {
    match manager {
        Manager::Apt => machine.list("/var/lib/apt/lists").iter().any(|name| name.contains("_Packages")),
        Manager::Pacman => machine.list("/var/lib/pacman/sync").iter().any(|name| name.ends_with(".db")),
        Manager::Dnf | Manager::Brew => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tests::Pretend;

    #[cfg(unix)]
    #[test]
    fn a_bare_debian_misses_everything_for_mpi() {
        let bare = Pretend::new("setup-bare", Os::Linux).program("/usr/bin/apt-get").var("CARGO", "/usr/bin/cargo");
        let needs: Vec<Need> = missing(&bare.machine, MPI).into_iter().map(|(need, _)| need).collect();
        assert_eq!(needs, MPI);
        let situation = situation(&bare.machine, needs);
        assert_eq!((situation.manager, situation.lists, situation.mpi), (Some(Manager::Apt), false, None));
        let listed = bare.file("/var/lib/apt/lists/deb.debian.org_debian_dists_bookworm_main_Packages.lz4", "");
        assert!(has_lists(&listed.machine, Manager::Apt));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_there_is_not_missing() {
        let machine = Pretend::new("setup-some", Os::Linux)
            .program("/usr/bin/mpirun")
            .program("/usr/bin/gcc")
            .file("/usr/lib/llvm-14/lib/libclang.so.1", "");
        let needs: Vec<Need> = missing(&machine.machine, MPI).into_iter().map(|(need, _)| need).collect();
        assert_eq!(needs, [Need::Graphics, Need::MpiLibrary]);
    }

    #[cfg(unix)]
    #[test]
    fn components_are_looked_for_beside_cargo() {
        let machine = Pretend::new("setup-components", Os::Linux)
            .file("/toolchain/bin/cargo-fmt", "")
            .file("/toolchain/bin/rustfmt", "")
            .program("/usr/bin/Xvfb")
            .file("/usr/lib/libxkbcommon-x11.so.0", "")
            .var("CARGO", "/toolchain/bin/cargo");
        let needs: Vec<Need> = missing(&machine.machine, CHECKS).into_iter().map(|(need, _)| need).collect();
        assert_eq!(needs, [Need::Clippy]);
    }
}
