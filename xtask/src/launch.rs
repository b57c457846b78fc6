//! `cargo xtask mpi`: build a program and run it on N processes.

use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use crate::args::{self, SETUP_FLAGS, Spec, switch, value};
use crate::context::{Context, Target};
use crate::{mpi, setup};

fn spec() -> Spec {
    let own = [
        value("-n", "RANKS", "number of processes (default 2)"),
        value("-p", "NAME", "run the program of this package"),
        value("--example", "NAME", "run this example"),
        value("--test", "NAME", "run this integration test; test filters go after `--`"),
        switch("--dev", "build without full optimisation (quicker to build; the default is --release)"),
        value("--timeout-secs", "SECONDS", "let the launcher end the job after this time (default: never)"),
        switch("--verbose", "let every process report a failure, not only the one whose rank failed first"),
        switch("--print", "print the launcher's command line and environment instead of running it"),
    ];
    Spec {
        command: "mpi",
        about: "\
cargo xtask mpi -n RANKS (-p NAME | --example NAME) [OPTIONS] [-- ARGUMENTS]

Builds a program with the feature `mpi` and runs it as RANKS processes under the MPI launcher. The launcher must belong
to the MPI library that mpicc builds for: a foreign one starts N separate worlds of one rank, so it is refused.
Standard input goes to rank 0, output comes through, and the launcher's exit code is handed back. What launchers need in
containers, as root and on few cores is set in the environment; variables that you have set win.

    cargo xtask mpi -n 4 -p volume -- --size 512x512 --output picture.png",
        flags: own.into_iter().chain(SETUP_FLAGS).collect(),
        rest: true,
    }
}

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let Some(parsed) = spec().parse(arguments)? else { return Ok(0) };
    let ranks = ranks(parsed.get("-n").unwrap_or("2"))?;
    let chosen: Vec<(&str, &str)> = [("-p", "bin"), ("--example", "example"), ("--test", "test")]
        .into_iter()
        .flat_map(|(flag, kind)| parsed.all(flag).into_iter().map(move |name| (kind, name)))
        .collect();
    let [(kind, name)] = chosen[..] else {
        return Err("name one program: -p NAME, --example NAME or --test NAME".into());
    };
    let mut context = Context::new()?;
    let target = target(&context, kind, name)?;
    setup::ensure(&mut context, setup::MPI, &parsed)?;
    let mpi = mpi::ready(&context)?;
    let program = build(&context, &target, kind, !parsed.has("--dev"))?;
    mpi::check_linked(&mpi, &program)?;
    let mut command = mpi::command(&context, &mpi, ranks, &program);
    command.args(&parsed.rest);
    // Output files that a user names are relative to where the user stands.
    command.current_dir(std::env::current_dir().map_err(|error| error.to_string())?);
    if let Some(seconds) = parsed.get("--timeout-secs") {
        let seconds: u32 = seconds.parse().map_err(|_| format!("--timeout-secs {seconds:?} is not a whole number"))?;
        command.env("MPIEXEC_TIMEOUT", seconds.to_string());
    }
    if parsed.has("--verbose") {
        command.env("ZIPPY_VERBOSE", "1");
    }
    if parsed.has("--print") {
        say!("{}", spell_out(&command));
        return Ok(0);
    }
    let status = command.status().map_err(|error| format!("{}: {error}", mpi.launcher.display()))?;
    Ok(exit_code(status))
}

/// Reads a number of ranks.
pub fn ranks(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(ranks @ 1..=65_536) => Ok(ranks),
        _ => Err(format!("{text:?} is not a number of ranks (1 to 65536)")),
    }
}

/// A target; a name that none has is refused before anything is installed or built.
fn target(context: &Context, kind: &str, name: &str) -> Result<Target, String> {
    let targets = context.targets(kind)?;
    if let Some(target) = targets.iter().find(|target| target.name == name) {
        return Ok(target.clone());
    }
    let known: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    Err(format!("there is no {kind} {name:?}{}\nThere are: {}", args::suggest(name, &known), known.join(" ")))
}

fn build(context: &Context, target: &Target, kind: &str, release: bool) -> Result<PathBuf, String> {
    let Target { name, package, .. } = target;
    let flag = format!("--{kind}");
    let mut arguments = if kind == "test" { vec!["test", "--no-run"] } else { vec!["build"] };
    arguments.extend(["--package", package, flag.as_str(), name]);
    if target.has_mpi {
        arguments.extend(["--features", "mpi"]);
    }
    if release {
        arguments.push("--release");
    }
    let built = context.build(&arguments)?;
    let program = built.into_iter().find(|program| program.kind == kind && program.name == *name);
    program.map(|program| program.path).ok_or(format!("Cargo built no {kind} {name:?}"))
}

/// The exit code to hand on; a signal counts as 128 plus its number, as in shells.
pub fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return 128u8.saturating_add(signal.unsigned_abs().min(127) as u8);
        }
    }
    // A code that does not fit must not become success.
    status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1))
}

/// A command as it could be typed into a shell.
pub fn spell_out(command: &Command) -> String {
    let quoted = |word: &std::ffi::OsStr| {
        let word = word.to_string_lossy();
        let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "/._-=:,+@%".contains(c));
        if plain { word.into_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| value.map(|value| format!("{}={}", name.to_string_lossy(), quoted(value))));
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_counts() {
        assert_eq!(ranks("4"), Ok(4));
        for text in ["0", "-1", "x", "", "1e3", "65537", "99999999999999999999"] {
            assert!(ranks(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn commands_are_quoted_for_a_shell() {
        let mut command = Command::new("/usr/bin/mpirun");
        command.env_remove("GONE").env("A", "1").args(["-n", "4", "it's", ""]);
        assert_eq!(spell_out(&command), r#"A=1 /usr/bin/mpirun -n 4 'it'\''s' ''"#);
    }

    #[cfg(unix)]
    #[test]
    fn failure_never_becomes_success() {
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(exit_code(ExitStatus::from_raw(0)), 0);
        assert_eq!(exit_code(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(exit_code(ExitStatus::from_raw(9)), 137);
    }
}
