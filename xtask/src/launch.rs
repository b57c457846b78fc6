//! `cargo xtask mpi`: builds a program and runs it as N processes under the MPI launcher.

use anyhow::{Result, bail};

use crate::args::parse;
use crate::process::{exit_code, spell_out, status};
use crate::ranks::{self, Ranks};
use crate::setup;

const HELP: &str = "\
cargo xtask mpi [-n RANKS] (-p NAME | --example NAME | --test NAME) [OPTIONS] [-- ARGUMENTS]

Builds a program with the feature `mpi` and runs it as RANKS processes under the MPI launcher. The launcher must belong
to the MPI library that mpicc builds for: the launcher of another library starts N separate worlds of one rank, so it is
refused. Standard input goes to rank 0, output of all ranks is printed, and the exit code is the launcher's. The command
sets the variables that launchers need in containers, as root and on few cores; variables that you have set take precedence.

    cargo xtask mpi -n 4 -p volume -- --size 512x512 --output picture.png

  -n RANKS              number of processes (default 2)
  -p NAME               run the program of this name
  --example NAME        run this example
  --test NAME           run this integration test; test filters go after `--`
  --dev                 build without full optimisation (quicker to build; the default is --release)
  --timeout-secs SECS   make the launcher end the job after this time (default: never)
  --verbose             make every process report a failure, not only the process whose rank failed first
  --print               print the launcher's command line and environment instead of running it
{setup}";

pub(crate) fn run(arguments: &[String]) -> Result<u8> {
    let Some(parsed) = parse("mpi", HELP, arguments)? else { return Ok(0) };
    let ranks = ranks::count(parsed.get("-n").unwrap_or("2"))?;
    let kinds = [("-p", "bin"), ("--example", "example"), ("--test", "test")];
    let chosen: Vec<(&str, &str)> =
        kinds.iter().flat_map(|(flag, kind)| parsed.all(flag).into_iter().map(move |name| (*kind, name))).collect();
    let [(kind, name)] = chosen[..] else {
        bail!("name one program: -p NAME, --example NAME or --test NAME");
    };
    let seconds = parsed.get("--timeout-secs");
    if let Some(text) = seconds.filter(|text| text.parse::<u32>().is_err()) {
        bail!("--timeout-secs {text:?} is not a whole number");
    }
    let context = setup::ready(&[], true, &parsed)?;
    let flag = format!("--{kind}");
    let mut build = if kind == "test" { vec!["test", "--no-run"] } else { vec!["build"] };
    build.extend(["--workspace", "--features", "mpi", &flag, name]);
    build.extend((!parsed.has("--dev")).then_some("--release"));
    let mut command = ranks::command(&context, &context.program(kind, name, &build)?, Ranks::Mpi(ranks))?;
    command.args(&parsed.rest);
    command.envs(seconds.map(|seconds| ("MPIEXEC_TIMEOUT", seconds)));
    command.envs(parsed.has("--verbose").then_some(("ZIPPY_VERBOSE", "1")));
    if parsed.has("--print") {
        say!("{}", spell_out(&command));
        return Ok(0);
    }
    status(&mut command).map(exit_code)
}
