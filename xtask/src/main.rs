//! `cargo xtask`: the development commands of this project, such as set-up, demonstration, tests
//! and benchmarks.
//!
//! Has few and small dependencies: it must build in seconds on a bare machine, on which it then
//! installs the dependencies of the project.
#![forbid(unsafe_code)]

#[macro_use]
mod say;

mod args;
mod bench;
mod bundle;
mod cargo_test;
mod ci;
mod context;
mod demo;
mod doctor;
mod fuzz;
mod launch;
mod machine;
mod mpi;
mod mpi_binding;
mod packages;
mod process;
mod ranks;
mod report;
mod run_steps;
mod setup;
mod step;
mod steps;
mod test;
mod third_party;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};

const HELP: &str = "\
cargo xtask COMMAND [OPTIONS]

  demo      set this machine up, build the volume renderer and run it on four ranks
  test      set this machine up, then run all tests and examples, with ranks as threads and under MPI
  ci        everything that a change must pass: format, lints, docs, licences, code for AArch64, then all of `test`
  doctor    check this machine (toolchain, GPU adapters, driver traps, MPI) and report problems; builds nothing
  mpi       build a program and run it as N processes under the MPI launcher
  bench     run the benchmarks and collect their numbers in benches/results/; --report writes the page
  bundle    pack programs, tests and benchmarks for a machine without a toolchain
  fuzz      read damaged files, stores and messages for minutes or hours; keep each input that finds a defect
  help      print this text

`cargo xtask COMMAND --help` explains each. New here? Start with `cargo xtask demo`.";

type Run = fn(&[String]) -> Result<u8>;

const COMMANDS: [(&str, Run); 8] = [
    ("demo", demo::run),
    ("test", test::run),
    ("ci", ci::run),
    ("doctor", doctor::run),
    ("mpi", launch::run),
    ("bench", bench::run),
    ("bundle", bundle::run),
    ("fuzz", fuzz::run),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let code = run(&words).unwrap_or_else(|message| {
        let _ = writeln!(std::io::stderr(), "xtask: {message:#}");
        2
    });
    ExitCode::from(code)
}

fn run(words: &[String]) -> Result<u8> {
    let is_help = |word: &String| ["help", "--help", "-h"].contains(&word.as_str());
    match words {
        [help, name, ..] if is_help(help) && !is_help(name) => find_command(name)?(&["--help".into()]),
        [name, rest @ ..] if !is_help(name) => find_command(name)?(rest),
        _ => {
            say!("{HELP}");
            Ok(if words.is_empty() { 2 } else { 0 })
        }
    }
}

fn find_command(name: &str) -> Result<Run> {
    let found = COMMANDS.iter().find(|(known, _)| *known == name).map(|(_, run)| *run);
    found.with_context(|| format!("{}\n\n{HELP}", args::unknown("command", name, &COMMANDS.map(|(name, _)| name))))
}
