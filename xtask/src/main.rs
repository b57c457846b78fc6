//! `cargo xtask`: everything that is done *to* this project: set a machine up, run the demonstration, test, measure.
//!
//! Standard library only, so that it builds in seconds on a bare machine and can set up what the project itself needs.

#[macro_use]
mod say;

mod args;
mod bench;
mod binding;
mod context;
mod demo;
mod doctor;
mod examples;
mod findings;
mod fuzz;
mod icet;
mod json;
mod launch;
mod libtest;
mod machine;
mod mpi;
mod packages;
mod peers;
mod setup;
mod steps;
mod test;
mod watch;

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

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match command.as_str() {
        "demo" => demo::run(&rest),
        "test" => test::run(&rest),
        "doctor" => doctor::run(&rest),
        "mpi" => launch::run(&rest),
        "bench" => bench::run(&rest),
        "fuzz" => fuzz::run(&rest),
        "help" | "--help" | "-h" => help(&rest),
        "" => {
            say!("{HELP}");
            Ok(2)
        }
        other => Err(format!("there is no command {other:?}{}\n\n{HELP}", args::suggest(other, &COMMANDS))),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            say::complain(format_args!("xtask: {message}"));
            ExitCode::from(2)
        }
    }
}

const COMMANDS: [&str; 7] = ["demo", "test", "doctor", "mpi", "bench", "fuzz", "help"];

/// `help` alone, or `help COMMAND`, which is `COMMAND --help`.
fn help(rest: &[String]) -> Result<u8, String> {
    let flag = ["--help".to_string()];
    match rest.first().map(String::as_str) {
        Some("demo") => demo::run(&flag),
        Some("test") => test::run(&flag),
        Some("doctor") => doctor::run(&flag),
        Some("mpi") => launch::run(&flag),
        Some("bench") => bench::run(&flag),
        Some("fuzz") => fuzz::run(&flag),
        Some(other) if other != "help" => {
            Err(format!("there is no command {other:?}{}", args::suggest(other, &COMMANDS)))
        }
        _ => {
            say!("{HELP}");
            Ok(0)
        }
    }
}
