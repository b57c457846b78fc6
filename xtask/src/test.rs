//! `cargo xtask test`: everything that has to hold, as a list of steps.

use std::time::{Duration, Instant};

use crate::args::{self, Parsed, parse};
use crate::cargo_test::{Failed, Outcome};
use crate::context::Context;
use crate::steps::{DRIVERS, QUICK, STEPS, Step, Workplace};
use crate::{binding, say, setup};

const HELP: &str = "\
cargo xtask test [OPTIONS]

Sets this machine up (asks once before installing anything), then runs these steps and prints a summary, in which
whatever failed is told once more; the exit code is 0 only if all of them pass. Everything is built once, in one profile.

{steps}

  --only STEP           run only this step (may be repeated)
  --skip STEP           leave this step out (may be repeated)
  --no-mpi              default features only: neither install, build nor run anything with MPI
  --quick               only what tells most in little time, between two edits
  --drivers             only what uses a device, on another Vulkan driver: SwiftShader, or what VK_DRIVER_FILES names
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
    let with_mpi = !parsed.has("--no-mpi");
    let mut context = Context::new()?;
    let needs = if with_mpi { setup::MPI } else { setup::GRAPHICS };
    let start = Instant::now();
    setup::ensure(&mut context, &[setup::CHECKS, needs].concat(), &parsed)?;
    let mpi = if with_mpi { Some(binding::ready(&context)?) } else { None };
    let mut results =
        vec![Done { name: "set-up", took: start.elapsed(), cpu_secs: None, outcome: Ok(Default::default()) }];
    let workplace = Workplace { context, mpi };
    for step in steps {
        say!("\n==> {}: {}", step.name, step.about);
        let (start, cpu_before) = (Instant::now(), children_cpu_secs());
        let outcome = workplace.run(step);
        if let Err(failed) = &outcome {
            say!("--- {} failed: {}", step.name, failed.message);
        }
        let cpu_secs = children_cpu_secs().zip(cpu_before).map(|(now, before)| now - before);
        results.push(Done { name: step.name, took: start.elapsed(), cpu_secs, outcome });
    }
    say::out(&format!("\n{}", failures(&results)));
    say!("{}", summary(&results));
    Ok(u8::from(results.iter().any(|done| done.outcome.is_err())))
}

/// The steps that the flags leave.
fn chosen(parsed: &Parsed) -> Result<Vec<&'static Step>, String> {
    // These two say themselves what is run.
    if let Some(flag) = ["--quick", "--drivers"].into_iter().find(|flag| parsed.has(flag)) {
        let mut others = ["--quick", "--drivers", "--only", "--skip"].into_iter().filter(|other| *other != flag);
        return match others.find(|other| parsed.has(other)) {
            Some(other) => Err(format!("{flag} chooses the steps itself, so it cannot be used with {other}")),
            None if flag == "--quick" => Ok(vec![&STEPS[0], &QUICK]),
            None => Ok(vec![&DRIVERS]),
        };
    }
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    let (only, skip) = (parsed.all("--only"), parsed.all("--skip"));
    if let Some(unknown) = only.iter().chain(&skip).find(|name| !names.contains(name)) {
        return Err(args::unknown("step", unknown, &names));
    }
    let kept = |step: &&Step| {
        (only.is_empty() || only.contains(&step.name))
            && !skip.contains(&step.name)
            && !(step.mpi && parsed.has("--no-mpi"))
    };
    let steps: Vec<&Step> = STEPS.iter().filter(kept).collect();
    if steps.is_empty() { Err("these flags leave no step to run".into()) } else { Ok(steps) }
}

/// A step that has been run.
struct Done {
    name: &'static str,
    took: Duration,
    /// Of all processes that it has started and that have ended; not known everywhere.
    cpu_secs: Option<f64>,
    outcome: Outcome,
}

/// The time that this process' children have spent computing, on Linux.
fn children_cpu_secs() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold anything: state, then numbers; the 14th and 15th are ticks of a hundredth of a second.
    let words: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |place: usize| words.get(place)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

/// Everything that failed, with what it printed: the end of a log is what people see first.
fn failures(results: &[Done]) -> String {
    let mut text = String::new();
    for Done { name, outcome, .. } in results {
        let Err(Failed { failures, .. }) = outcome else { continue };
        for failure in failures {
            text += &format!("FAILED in {name}: {}\n", failure.what);
            failure.text.iter().for_each(|line| text += &format!("    {line}\n"));
            text += "\n";
        }
    }
    text
}

/// The table of steps, and below it the names of what failed.
fn summary(results: &[Done]) -> String {
    let mut text =
        format!("{:14} {:>8} {:>8} {:>7} {:>7}  result\n", "step", "seconds", "CPU secs", "passed", "failed");
    let cpu = |secs: Option<f64>| secs.map_or("-".to_string(), |secs| format!("{secs:.0}"));
    for Done { name, took, cpu_secs, outcome } in results {
        let counts = outcome.as_ref().map_or_else(|failed| failed.counts, |counts| *counts);
        let number = |count: usize| if counts == Default::default() { "-".into() } else { count.to_string() };
        let verdict = outcome.as_ref().map_or_else(|failed| format!("FAILED: {}", failed.message), |_| "ok".into());
        let (secs, passed, failed) = (took.as_secs_f64(), number(counts.passed), number(counts.failed));
        text += &format!("{name:14} {secs:8.1} {:>8} {passed:>7} {failed:>7}  {verdict}\n", cpu(*cpu_secs));
    }
    let total: Duration = results.iter().map(|done| done.took).sum();
    let cpu_total = results.iter().filter_map(|done| done.cpu_secs).reduce(|a, b| a + b);
    text += &format!("{:14} {:8.1} {:>8}\n\n", "all", total.as_secs_f64(), cpu(cpu_total));
    let failed: Vec<_> = results.iter().filter_map(|done| Some((done.name, done.outcome.as_ref().err()?))).collect();
    for (name, failed) in &failed {
        failed.failures.iter().for_each(|failure| text += &format!("FAILED in {name}: {}\n", failure.what));
    }
    text + &format!("{} passed, {} failed", results.len() - failed.len(), failed.len())
}

#[cfg(test)]
#[path = "../tests/unit/test.rs"]
mod tests;
