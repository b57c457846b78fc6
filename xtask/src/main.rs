//! `cargo xtask`: everything that is done *to* this project: set a machine up, run the demonstration, test, measure.
//!
//! Few and small dependencies, so that it builds in seconds on a bare machine and can set up what the project itself needs.

#[macro_use]
mod say;

mod args;
mod bench;
mod binding;
mod cargo_test;
mod context;
mod debian;
mod demo;
mod doctor;
mod drivers;
mod fuzz;
mod launch;
mod machine;
mod mpi;
mod packages;
mod peers;
mod process;
mod ranks;
mod setup;
mod steps;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND [OPTIONS]

  demo      set this machine up, build the volume renderer and run it on four ranks
  test      set this machine up, then everything that has to hold: format, lints, docs, tests with threads and MPI
  doctor    look at this machine (toolchain, GPU adapters, driver traps, MPI) and say what is wrong; changes nothing
  mpi       build an example and run it as N processes under the MPI launcher
  bench     run the benchmarks and collect their numbers in benches/results/
  fuzz      read damaged files of every format for minutes or hours; keep those that do what none may do
  help      this text

`cargo xtask COMMAND --help` explains each. New here? Start with `cargo xtask demo`.";

type Run = fn(&[String]) -> Result<u8, String>;

const COMMANDS: [(&str, Run); 7] = [
    ("demo", demo::run),
    ("test", test::run),
    ("doctor", doctor::run),
    ("mpi", launch::run),
    ("bench", bench::run),
    ("fuzz", fuzz::run),
    ("help", help),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        None => help(&[]).map(|_| 2),
        Some((first, rest)) if ["--help", "-h"].contains(&first.as_str()) => help(rest),
        Some((name, rest)) => command(name).and_then(|run| run(rest)),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            say::complain(format_args!("xtask: {message}"));
            ExitCode::from(2)
        }
    }
}

fn command(name: &str) -> Result<Run, String> {
    let hint = args::suggest(name, &COMMANDS.map(|(name, _)| name));
    let found = COMMANDS.iter().find(|(known, _)| *known == name).map(|(_, run)| *run);
    found.ok_or_else(|| format!("there is no command {name:?}{hint}\n\n{HELP}"))
}

/// `help` alone, or `help COMMAND`, which is `COMMAND --help`.
fn help(rest: &[String]) -> Result<u8, String> {
    match rest.first() {
        Some(name) if !["help", "--help", "-h"].contains(&name.as_str()) => command(name)?(&["--help".into()]),
        _ => {
            say!("{HELP}");
            Ok(0)
        }
    }
}
