//! [`Step`]: commands of Cargo, or runs of the examples, with one outcome.

use std::process::Command;

use anyhow::{Context as _, Result};

use crate::cargo_test::{Failure, MAX_SILENCE, Outcome, run_with_timeout};
use crate::context::{BuiltProgram, Context};
use crate::mpi;
use crate::ranks::{self, Ranks};

/// A step of `cargo xtask test` or `cargo xtask ci`.
#[derive(Debug)]
pub(crate) struct Step {
    pub name: &'static str,
    /// Purpose, in one line.
    pub about: &'static str,
    pub environment: Environment,
    /// Arguments of Cargo, one command after the other. A step without commands runs the examples.
    ///
    /// * `{test}` runs all tests, also after a failure.
    /// * `{suites}` runs tests with ranks.
    /// * `{all}` is the workspace with the features of this run: the same features in all commands
    ///   avoid a second build.
    /// * `{aarch64}` is the feature that generates code for AArch64, for tests of that code and for
    ///   commands that only check.
    /// * `{not_by_driver}` skips tests that draw or compute by a driver.
    pub commands: Commands,
    /// Subcommand of Cargo without which the step is not run; set-up does not install it.
    pub optional_tool: Option<&'static str>,
}

pub(crate) type Environment = &'static [(&'static str, &'static str)];
pub(crate) type Commands = &'static [&'static str];

/// Filter that skips tests that draw or compute by a driver.
const NOT_BY_DRIVER: &str = "--skip by_driver";

/// Tests with ranks that have devices.
const SUITES: &str = "{test} --test world --test algorithms --test ranks --test surfaces";

const AARCH64: &str = "--features zippy-native/aarch64";

/// A step that needs no optional tool.
pub(crate) const fn step(
    name: &'static str,
    about: &'static str,
    environment: Environment,
    commands: Commands,
) -> Step {
    Step { name, about, environment, commands, optional_tool: None }
}

impl Step {
    pub(crate) fn run(&self, context: &Context) -> Result<Outcome> {
        if let Some(tool) = self.optional_tool.filter(|tool| !context.machine.has_cargo_command(tool)) {
            return Ok(Outcome { not_run: Some(format!("cargo-{tool} is not installed")), ..Outcome::default() });
        }
        if self.commands.is_empty() {
            return run_examples(context);
        }
        let mut outcome = Outcome::default();
        for line in self.commands {
            let line = expand_abbreviations(line, context.features());
            let mut command = context.cargo(&line.split_whitespace().collect::<Vec<_>>());
            // Tests choose their own number of ranks. A snapshot that differs fails, and writes no
            // file.
            command.env_remove("ZIPPY_RANKS").env("INSTA_UPDATE", "no").envs(self.environment.iter().copied());
            if let Some(mpi) = &context.mpi {
                mpi::prepare(&context.machine, mpi, &mut command);
                command.env("ZIPPY_MPIRUN", &mpi.launcher);
            }
            outcome = run_with_timeout(command, &format!("cargo {line}"), MAX_SILENCE)?;
            // The summary counts tests that `--skip` excludes, not tests that a filter does not
            // select.
            outcome.skipped *= usize::from(line.contains("--skip"));
            // A filter that matches no test is an error.
            if outcome.problem.is_none() && line.contains(" --test ") && outcome.passed == 0 {
                outcome.problem = Some("no test was run".into());
            }
            if outcome.problem.is_some() {
                break;
            }
        }
        Ok(outcome)
    }
}

/// Replaces the abbreviations in a line of [`Step::commands`].
fn expand_abbreviations(line: &str, features: &[&str]) -> String {
    let line = line.replace("{suites}", SUITES).replace("{not_by_driver}", NOT_BY_DRIVER);
    let line = line.replace("{test}", "test {all} --no-fail-fast").replace("{aarch64}", AARCH64);
    let line = line.replace("{all}", "--workspace {features}").replace("{features}", &features.join(" "));
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs all examples. Each example ends in assertions, so its exit code is the result.
fn run_examples(context: &Context) -> Result<Outcome> {
    let build = ["build", "--workspace", "--examples", "--bin", "volume", "--bin", "isosurface", "--bin", "lbm"];
    let built = context.build(&[&build, context.features()].concat())?;
    let under_mpi = context.mpi.iter().map(|_| Ranks::Mpi(3));
    // The README contains the output of its program.
    let readme = std::fs::read_to_string(context.root.join("README.md"))?;
    let expected = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let expected = expected.context("README.md does not contain the output of its program")?;
    let mut all = Outcome::default();
    // The example `doctor` is a tool, run by `cargo xtask doctor`.
    for program in built.iter().filter(|program| program.name != "doctor") {
        for ranks in [Ranks::Threads(1), Ranks::Threads(4)].into_iter().chain(under_mpi.clone()) {
            let run = format!("example {} with {}", program.name, ranks.label());
            say!("--- {run}");
            let outcome = run_with_timeout(example_command(context, program, ranks)?, &run, MAX_SILENCE)?;
            if program.name == "readme" && !outcome.lines.join("\n").contains(expected.trim_end()) {
                all.failures.push(Failure::new(&format!("{run}: its output differs from the README"), &outcome.lines));
            } else {
                all.passed += usize::from(outcome.problem.is_none());
            }
            all.failures.extend(outcome.failures);
        }
    }
    all.failed = all.failures.len();
    all.problem = (all.failed > 0).then(|| format!("{} runs of examples failed", all.failed));
    Ok(all)
}

/// Command that runs an example with small inputs.
fn example_command(context: &Context, program: &BuiltProgram, ranks: Ranks) -> Result<Command> {
    let mut command = ranks::command(context, &program.path, ranks)?;
    let arguments = match &*program.name {
        "volume" => "--size 96x64 --compare-single --output {picture}",
        "isosurface" => "--n 24 --with-volume --render {picture}",
        "lbm" => "--case cavity3d --n 16 --steps 40 --hash",
        _ => "",
    };
    let picture = format!("{}-{}.png", program.name, ranks.label().replace(' ', "-"));
    command.args(arguments.replace("{picture}", &picture).split_whitespace());
    command.current_dir(context.scratch("examples")?);
    Ok(command)
}

#[cfg(test)]
#[path = "../tests/unit/step.rs"]
mod tests;
