//! `cargo xtask test`: all checks of the project, as a list of steps.

use std::time::{Duration, Instant};

use crate::args::{self, Parsed, parse};
use crate::cargo_test::{Failure, Outcome};
use crate::context::Context;
use crate::packages::{CHECKS, GRAPHICS};
use crate::steps::{DRIVERS, NO_DRIVER, QUICK, STEPS, Step};
use crate::{setup, third_party};

const HELP: &str = "\
cargo xtask test [OPTIONS]

Sets this machine up (with your consent before it installs anything), then runs these steps and prints a summary, which
repeats all failures. The exit code is 0 only if all steps pass. All steps share one build profile.

{steps}

  --only STEP           run only this step (may be repeated)
  --skip STEP           do not run this step (may be repeated)
  --no-mpi              default features only: neither install, build nor run anything with MPI
  --quick               only the most informative checks that take a minute, for use between two edits
  --drivers             only tests with a device, on another Vulkan driver: SwiftShader, or the driver in VK_DRIVER_FILES
  --no-driver           only tests with a device, without any Vulkan driver: kernels are native; tests that draw or compute
                        by a driver are skipped, and the summary counts them
  --list                print the names of the steps
{setup}";

/// Parses the arguments; the help contains the list of steps.
fn parse_arguments(arguments: &[String]) -> Result<Option<Parsed>, String> {
    let steps: Vec<String> = STEPS.iter().map(|step| format!("  {:14} {}", step.name, step.about)).collect();
    parse("test", &HELP.replace("{steps}", &steps.join("\n")), arguments)
}

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let Some(parsed) = parse_arguments(arguments)? else { return Ok(0) };
    let steps = selected_steps(&parsed)?;
    if parsed.has("--list") {
        steps.iter().for_each(|step| say!("{}", step.name));
        return Ok(0);
    }
    let without_driver = parsed.has("--no-driver");
    let needs = if without_driver { CHECKS.to_vec() } else { [CHECKS, GRAPHICS].concat() };
    let mut context = setup::ready(&needs, !without_driver && !parsed.has("--no-mpi"), &parsed)?;
    if parsed.has("--drivers") {
        third_party::use_other_driver(&mut context)?;
    }
    let results: Vec<StepResult> = steps.into_iter().map(|step| run_step(&context, step)).collect();
    say!("\n{}", summary(&results));
    Ok(u8::from(results.iter().any(|result| result.outcome.problem.is_some())))
}

/// Runs a step, and prints and returns its outcome.
fn run_step(context: &Context, step: &Step) -> StepResult {
    say!("\n==> {}: {}", step.name, step.about);
    let (start, cpu_before) = (Instant::now(), children_cpu_secs());
    let outcome = step.run(context);
    let outcome = outcome.unwrap_or_else(|problem| Outcome { problem: Some(problem), ..Outcome::default() });
    outcome.problem.iter().for_each(|problem| say!("--- {} failed: {problem}", step.name));
    StepResult { name: step.name, duration: start.elapsed(), cpu_secs: children_cpu_secs() - cpu_before, outcome }
}

/// Returns the steps that the flags select.
fn selected_steps(parsed: &Parsed) -> Result<Vec<&'static Step>, String> {
    let mut flags = vec!["--quick", "--drivers", "--no-driver", "--only", "--skip"];
    flags.retain(|flag| parsed.has(flag));
    match flags[..] {
        ["--quick"] => return Ok(vec![&STEPS[0], &QUICK]),
        ["--drivers"] => return Ok(vec![&DRIVERS]),
        ["--no-driver"] => return Ok(vec![&NO_DRIVER]),
        [flag @ ("--quick" | "--drivers" | "--no-driver"), other, ..] => {
            return Err(format!("{flag} selects the steps itself, so it cannot be used with {other}"));
        }
        _ => {}
    }
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    let (only, mut skip) = (parsed.all("--only"), parsed.all("--skip"));
    if let Some(unknown) = only.iter().chain(&skip).find(|name| !names.contains(name)) {
        return Err(args::unknown("step", unknown, &names));
    }
    if parsed.has("--no-mpi") {
        skip.extend(["default-build", "mpi"]);
    }
    let kept = |step: &&Step| (only.is_empty() || only.contains(&step.name)) && !skip.contains(&step.name);
    let steps: Vec<&Step> = STEPS.iter().filter(kept).collect();
    if steps.is_empty() { Err("these flags select no step".into()) } else { Ok(steps) }
}

/// Outcome and times of a step.
struct StepResult {
    name: &'static str,
    /// Wall-clock time.
    duration: Duration,
    /// CPU time of the ended child processes of the step, in seconds.
    cpu_secs: f64,
    outcome: Outcome,
}

/// CPU time of the ended children of this process, in seconds, from `/proc`; 0 without it.
fn children_cpu_secs() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the process name, which may contain any character, words 13 and 14 (from 0) are
    // `cutime` and `cstime`, in ticks of 10 ms.
    let words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = words.skip(13).take(2).filter_map(|word| word.parse::<f64>().ok()).sum();
    if stat.is_empty() { f64::NAN } else { ticks / 100.0 }
}

/// Text of the summary: failures with their output, then the table of steps, then the names of the
/// failures, because readers see the end of a log first.
fn summary(results: &[StepResult]) -> String {
    let header = format!(
        "{:14} {:>8} {:>8} {:>7} {:>7} {:>7}  result",
        "step", "seconds", "CPU secs", "passed", "failed", "skipped"
    );
    let (mut outputs, mut table, mut names) = (String::new(), header, String::new());
    for StepResult { name, duration, cpu_secs, outcome } in results {
        let Outcome { passed, failed, skipped, problem, failures, .. } = outcome;
        let verdict = problem.as_ref().map_or("ok".into(), |problem| format!("FAILED: {problem}"));
        let secs = duration.as_secs_f64();
        table += &format!("\n{name:14} {secs:8.1} {cpu_secs:8.0} {passed:7} {failed:7} {skipped:7}  {verdict}");
        for Failure { name: failure, text } in failures {
            outputs += &format!("FAILED in {name}: {failure}\n    {}\n\n", text.replace('\n', "\n    "));
            names += &format!("FAILED in {name}: {failure}\n");
        }
    }
    let secs = results.iter().map(|result| result.duration).sum::<Duration>().as_secs_f64();
    let cpu_secs: f64 = results.iter().map(|result| result.cpu_secs).sum();
    let failed = results.iter().filter(|result| result.outcome.problem.is_some()).count();
    let passed = results.len() - failed;
    format!("{outputs}{table}\n{:14} {secs:8.1} {cpu_secs:8.0}\n\n{names}{passed} passed, {failed} failed", "all")
}

#[cfg(test)]
#[path = "../tests/unit/test.rs"]
mod tests;
