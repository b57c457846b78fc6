//! `cargo xtask mpi`: build a program and run it on N processes.

use std::path::PathBuf;

use crate::args::{self, parse};
use crate::context::{Context, Target};
use crate::process::{exit_code, spell_out, status};
use crate::{binding, mpi, ranks, setup};

const HELP: &str = "\
cargo xtask mpi -n RANKS (-p NAME | --example NAME) [OPTIONS] [-- ARGUMENTS]

Builds a program with the feature `mpi` and runs it as RANKS processes under the MPI launcher. The launcher must belong
to the MPI library that mpicc builds for: a foreign one starts N separate worlds of one rank, so it is refused.
Standard input goes to rank 0, output comes through, and the launcher's exit code is handed back. What launchers need in
containers, as root and on few cores is set in the environment; variables that you have set win.

    cargo xtask mpi -n 4 -p volume -- --size 512x512 --output picture.png

  -n RANKS              number of processes (default 2)
  -p NAME               run the program of this package
  --example NAME        run this example
  --test NAME           run this integration test; test filters go after `--`
  --dev                 build without full optimisation (quicker to build; the default is --release)
  --timeout-secs SECS   let the launcher end the job after this time (default: never)
  --verbose             let every process report a failure, not only the one whose rank failed first
  --print               print the launcher's command line and environment instead of running it
{setup}";

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let Some(parsed) = parse("mpi", HELP, arguments)? else { return Ok(0) };
    let ranks = ranks::count(parsed.get("-n").unwrap_or("2"))?;
    let kinds = [("-p", "bin"), ("--example", "example"), ("--test", "test")];
    let chosen: Vec<(&str, &str)> =
        kinds.iter().flat_map(|(flag, kind)| parsed.all(flag).into_iter().map(move |name| (*kind, name))).collect();
    let [(kind, name)] = chosen[..] else {
        return Err("name one program: -p NAME, --example NAME or --test NAME".into());
    };
    let mut context = Context::new()?;
    let target = target(&context, kind, name)?;
    setup::ensure(&mut context, setup::MPI, &parsed)?;
    let mpi = binding::ready(&context)?;
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
    status(&mut command).map(exit_code)
}

/// A target; a name that none has is refused before anything is installed or built.
fn target(context: &Context, kind: &str, name: &str) -> Result<Target, String> {
    let targets = context.targets(kind)?;
    let known: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    targets.iter().find(|target| target.name == name).cloned().ok_or_else(|| args::unknown(kind, name, &known))
}

fn build(context: &Context, target: &Target, kind: &str, release: bool) -> Result<PathBuf, String> {
    let Target { name, package, has_mpi } = target;
    let flag = format!("--{kind}");
    let mut arguments = if kind == "test" { vec!["test", "--no-run"] } else { vec!["build"] };
    arguments.extend(["--package", package, &flag, name]);
    if *has_mpi {
        arguments.extend(["--features", "mpi"]);
    }
    if release {
        arguments.push("--release");
    }
    let built = context.build(&arguments)?;
    let program = built.into_iter().find(|program| program.kind == kind && program.name == *name);
    program.map(|program| program.path).ok_or(format!("Cargo built no {kind} {name:?}"))
}
