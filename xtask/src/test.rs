//! `cargo xtask test`: all checks of the project, as a list of steps.

use std::time::{Duration, Instant};

use crate::args::{self, Parsed, parse};
use crate::cargo_test::{Failure, Outcome};
use crate::context::Context;
use crate::packages::{CHECKS, GRAPHICS};
use crate::steps::{DRIVERS, NO_DRIVER, QUICK, STEPS, Step};
use crate::{others, setup};

const HELP: &str = "\
cargo xtask test [OPTIONS]

Sets this machine up (with your consent before it installs anything), then runs these steps and prints a summary, which
repeats all failures. The exit code is 0 only if all steps pass. Everything is built once, in one profile.

{steps}

  --only STEP           run only this step (may be repeated)
  --skip STEP           leave this step out (may be repeated)
  --no-mpi              default features only: neither install, build nor run anything with MPI
  --quick               only the most informative checks of a minute, between two edits
  --drivers             only tests with a device, on another Vulkan driver: SwiftShader, or the driver in VK_DRIVER_FILES
  --no-driver           only tests with a device, without any Vulkan driver: kernels are native; tests that draw or compute
                        by a driver are skipped, and the summary counts them
  --list                print the names of the steps
{setup}";

fn read(arguments: &[String]) -> Result<Option<Parsed>, String> {
    let steps: Vec<String> = STEPS.iter().map(|step| format!("  {:14} {}", step.name, step.about)).collect();
    parse("test", &HELP.replace("{steps}", &steps.join("\n")), arguments)
}

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let Some(parsed) = read(arguments)? else { return Ok(0) };
    let steps = chosen(&parsed)?;
    if parsed.has("--list") {
        steps.iter().for_each(|step| say!("{}", step.name));
        return Ok(0);
    }
    let without_driver = parsed.has("--no-driver");
    let needs = if without_driver { CHECKS.to_vec() } else { [CHECKS, GRAPHICS].concat() };
    let mut context = setup::ready(&needs, !without_driver && !parsed.has("--no-mpi"), &parsed)?;
    if parsed.has("--drivers") {
        others::use_other_driver(&mut context)?;
    }
    let results: Vec<Done> = steps.into_iter().map(|step| done(&context, step)).collect();
    say!("\n{}", summary(&results));
    Ok(u8::from(results.iter().any(|done| done.outcome.problem.is_some())))
}

/// Runs a step, and reports its outcome.
fn done(context: &Context, step: &Step) -> Done {
    say!("\n==> {}: {}", step.name, step.about);
    let (start, cpu_before) = (Instant::now(), children_cpu_secs());
    let outcome = step.run(context);
    let outcome = outcome.unwrap_or_else(|problem| Outcome { problem: Some(problem), ..Outcome::default() });
    outcome.problem.iter().for_each(|problem| say!("--- {} failed: {problem}", step.name));
    Done { name: step.name, took: start.elapsed(), cpu_secs: children_cpu_secs() - cpu_before, outcome }
}

/// Returns the steps that the flags select.
fn chosen(parsed: &Parsed) -> Result<Vec<&'static Step>, String> {
    let mut flags = vec!["--quick", "--drivers", "--no-driver", "--only", "--skip"];
    flags.retain(|flag| parsed.has(flag));
    match flags[..] {
        ["--quick"] => return Ok(vec![&STEPS[0], &QUICK]),
        ["--drivers"] => return Ok(vec![&DRIVERS]),
        ["--no-driver"] => return Ok(vec![&NO_DRIVER]),
        [flag @ ("--quick" | "--drivers" | "--no-driver"), other, ..] => {
            return Err(format!("{flag} chooses the steps itself, so it cannot be used with {other}"));
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
    if steps.is_empty() { Err("these flags leave no step to run".into()) } else { Ok(steps) }
}

/// Outcome of a step.
struct Done {
    name: &'static str,
    took: Duration,
    /// CPU time of all its ended child processes, in seconds.
    cpu_secs: f64,
    outcome: Outcome,
}

/// CPU time of the ended children of this process, in seconds, from `/proc`; 0 without it.
fn children_cpu_secs() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may hold any character: the state, then numbers, of which the 14th and
    // 15th are ticks of 10 ms.
    let words = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = words.skip(13).take(2).filter_map(|word| word.parse::<f64>().ok()).sum();
    if stat.is_empty() { f64::NAN } else { ticks / 100.0 }
}

/// Failures with their output, then the table of steps, then the names of the failures, because
/// readers see the end of a log first.
fn summary(results: &[Done]) -> String {
    let header = format!(
        "{:14} {:>8} {:>8} {:>7} {:>7} {:>7}  result",
        "step", "seconds", "CPU secs", "passed", "failed", "skipped"
    );
    let (mut outputs, mut table, mut names) = (String::new(), header, String::new());
    for Done { name, took, cpu_secs, outcome: Outcome { passed, failed, skipped, problem, failures, .. } } in results {
        let verdict = problem.as_ref().map_or("ok".into(), |problem| format!("FAILED: {problem}"));
        let secs = took.as_secs_f64();
        table += &format!("\n{name:14} {secs:8.1} {cpu_secs:8.0} {passed:7} {failed:7} {skipped:7}  {verdict}");
        for Failure { what, text } in failures {
            outputs += &format!("FAILED in {name}: {what}\n    {}\n\n", text.replace('\n', "\n    "));
            names += &format!("FAILED in {name}: {what}\n");
        }
    }
    let secs = results.iter().map(|done| done.took).sum::<Duration>().as_secs_f64();
    let cpu_secs: f64 = results.iter().map(|done| done.cpu_secs).sum();
    let bad = results.iter().filter(|done| done.outcome.problem.is_some()).count();
    let good = results.len() - bad;
    format!("{outputs}{table}\n{:14} {secs:8.1} {cpu_secs:8.0}\n\n{names}{good} passed, {bad} failed", "all")
}

#[cfg(test)]
#[path = "../tests/unit/test.rs"]
mod tests;
