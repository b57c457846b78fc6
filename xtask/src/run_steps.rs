//! Selection of steps by name, their run, and the summary of a run.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use crate::args::{self, Parsed};
use crate::cargo_test::{Failure, Outcome};
use crate::context::Context;
use crate::step::Step;
use crate::steps::STEPS_THAT_NEED_MPI;

/// Flags that [`select`] reads, for the help of a command.
pub(crate) const FLAGS: &str = "  --only STEP           run only this step (may be repeated)
  --skip STEP           do not run this step (may be repeated)
  --no-mpi              default features only: neither install, build nor run anything with MPI
  --list                print the names of the steps";

/// Lines of a help text that describe steps.
pub(crate) fn describe<'a>(steps: impl IntoIterator<Item = &'a Step>) -> String {
    let lines = steps.into_iter().map(|step| format!("  {:14} {}", step.name, step.about));
    lines.collect::<Vec<_>>().join("\n")
}

/// Steps that `--only`, `--skip` and `--no-mpi` select, in the order of `steps`.
///
/// # Errors
/// A flag has an unknown name, or no step remains.
pub(crate) fn select<'a>(steps: &[&'a Step], parsed: &Parsed) -> Result<Vec<&'a Step>> {
    let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
    let (only, mut skip) = (parsed.all("--only"), parsed.all("--skip"));
    if let Some(unknown) = only.iter().chain(&skip).find(|name| !names.contains(name)) {
        bail!(args::unknown("step", unknown, &names));
    }
    if parsed.has("--no-mpi") {
        skip.extend(STEPS_THAT_NEED_MPI);
    }
    let is_kept = |step: &&&Step| (only.is_empty() || only.contains(&step.name)) && !skip.contains(&step.name);
    let kept: Vec<&Step> = steps.iter().filter(is_kept).copied().collect();
    if kept.is_empty() { Err(anyhow!("these flags select no step")) } else { Ok(kept) }
}

pub(crate) fn list(steps: &[&Step]) {
    steps.iter().for_each(|step| say!("{}", step.name));
}

/// Runs steps, also after a failure, and prints a summary. Returns the exit code: 0 if no step
/// fails.
pub(crate) fn run(context: &Context, steps: &[&Step]) -> u8 {
    let results: Vec<StepResult> = steps.iter().map(|step| run_step(context, step)).collect();
    say!("\n{}", summary_text(&results));
    u8::from(results.iter().any(|result| result.outcome.problem.is_some()))
}

/// Runs a step, and prints and returns its outcome.
fn run_step(context: &Context, step: &Step) -> StepResult {
    say!("\n==> {}: {}", step.name, step.about);
    let (start, cpu_before) = (Instant::now(), children_cpu_secs());
    let outcome = step.run(context);
    let outcome =
        outcome.unwrap_or_else(|problem| Outcome { problem: Some(format!("{problem:#}")), ..Outcome::default() });
    outcome.problem.iter().for_each(|problem| say!("--- {} failed: {problem}", step.name));
    outcome.not_run.iter().for_each(|reason| say!("--- {} is not run: {reason}", step.name));
    StepResult { name: step.name, duration: start.elapsed(), cpu_secs: children_cpu_secs() - cpu_before, outcome }
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

/// Text of the summary: failures with their output, then the table of steps in the order of their
/// run, then the names of the failures, because readers see the end of a log first.
fn summary_text(results: &[StepResult]) -> String {
    let header = format!(
        "{:14} {:>8} {:>8} {:>7} {:>7} {:>7}  result",
        "step", "seconds", "CPU secs", "passed", "failed", "skipped"
    );
    let (mut outputs, mut table, mut names) = (String::new(), header, String::new());
    for StepResult { name, duration, cpu_secs, outcome } in results {
        let Outcome { passed, failed, skipped, problem, not_run, failures, .. } = outcome;
        let verdict = match (problem, not_run) {
            (Some(problem), _) => format!("FAILED: {problem}"),
            (None, Some(reason)) => format!("not run: {reason}"),
            (None, None) => "ok".into(),
        };
        let secs = duration.as_secs_f64();
        table += &format!("\n{name:14} {secs:8.1} {cpu_secs:8.0} {passed:7} {failed:7} {skipped:7}  {verdict}");
        for Failure { name: failure, text } in failures {
            outputs += &format!("FAILED in {name}: {failure}\n    {}\n\n", text.replace('\n', "\n    "));
            names += &format!("FAILED in {name}: {failure}\n");
        }
    }
    let secs = results.iter().map(|result| result.duration).sum::<Duration>().as_secs_f64();
    let cpu_secs: f64 = results.iter().map(|result| result.cpu_secs).sum();
    let count = |has: fn(&Outcome) -> bool| results.iter().filter(|result| has(&result.outcome)).count();
    let failed = count(|outcome| outcome.problem.is_some());
    let not_run = count(|outcome| outcome.not_run.is_some());
    let passed = results.len() - failed - not_run;
    let not_run = if not_run > 0 { format!(", {not_run} not run") } else { String::new() };
    let counts = format!("{passed} passed, {failed} failed{not_run}");
    format!("{outputs}{table}\n{:14} {secs:8.1} {cpu_secs:8.0}\n\n{names}{counts}", "all")
}

#[cfg(test)]
#[path = "../tests/unit/run_steps.rs"]
mod tests;
