//! `cargo xtask test`: everything that has to hold, as a list of steps.

use std::time::{Duration, Instant};

use crate::args::{Parsed, SETUP_FLAGS, Spec, switch, value};
use crate::context::Context;
use crate::say;
use crate::steps::{STEPS, Step, Workplace};
use crate::watch::{Failed, Outcome};
use crate::{mpi, setup};

fn spec() -> Spec {
    let mut about = "\
cargo xtask test [OPTIONS]

Sets this machine up (asks once before installing anything), then runs these steps and prints a summary, in which
whatever failed is told once more; the exit code is 0 only if all of them pass. Everything is built once, in one profile.
"
    .to_string();
    for step in &STEPS {
        about += &format!("\n  {:14} {}", step.name, step.about);
    }
    let own = [
        value("--only", "STEP", "run only this step (may be repeated)"),
        value("--skip", "STEP", "leave this step out (may be repeated)"),
        switch("--no-mpi", "default features only: neither install, build nor run anything with MPI"),
        switch("--list", "print the names of the steps"),
    ];
    Spec {
        command: "test",
        about: Box::leak((about + "\n").into_boxed_str()),
        flags: own.into_iter().chain(SETUP_FLAGS).collect(),
        rest: false,
    }
}

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    let Some(parsed) = spec().parse(arguments)? else { return Ok(0) };
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
    let mpi = if with_mpi { Some(mpi::ready(&context)?) } else { None };
    let mut results = vec![("set-up", start.elapsed(), Ok(Default::default()))];
    let workplace = Workplace { context, mpi };
    for step in steps {
        say!("\n==> {}: {}", step.name, step.about);
        let start = Instant::now();
        let outcome = (step.run)(&workplace);
        if let Err(failed) = &outcome {
            say!("--- {} failed: {}", step.name, failed.message);
        }
        results.push((step.name, start.elapsed(), outcome));
    }
    say::out(&format!("\n{}", failures(&results)));
    say!("{}", summary(&results));
    Ok(u8::from(results.iter().any(|(_, _, outcome)| outcome.is_err())))
}

/// The steps that the flags leave.
fn chosen(parsed: &Parsed) -> Result<Vec<&'static Step>, String> {
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    let (only, skip) = (parsed.all("--only"), parsed.all("--skip"));
    if let Some(unknown) = only.iter().chain(&skip).find(|name| !names.contains(name)) {
        let hint = crate::args::suggest(unknown, &names);
        return Err(format!("there is no step {unknown:?}{hint}\nThere are: {}", names.join(" ")));
    }
    let kept = |step: &&Step| {
        (only.is_empty() || only.contains(&step.name))
            && !skip.contains(&step.name)
            && !(step.mpi && parsed.has("--no-mpi"))
    };
    let steps: Vec<&Step> = STEPS.iter().filter(kept).collect();
    if steps.is_empty() { Err("these flags leave no step to run".into()) } else { Ok(steps) }
}

type Results = [(&'static str, Duration, Outcome)];

/// Everything that failed, with what it printed: the end of a log is what people see first.
fn failures(results: &Results) -> String {
    let mut text = String::new();
    for (step, _, outcome) in results {
        let Err(Failed { failures, .. }) = outcome else { continue };
        for failure in failures {
            text += &format!("FAILED in {step}: {}\n", failure.what);
            failure.text.iter().for_each(|line| text += &format!("    {line}\n"));
            text += "\n";
        }
    }
    text
}

/// The table of steps, and below it the names of what failed.
fn summary(results: &Results) -> String {
    let mut text = format!("{:14} {:>9} {:>7} {:>7}  result\n", "step", "seconds", "passed", "failed");
    for (name, elapsed, outcome) in results {
        let counts = outcome.as_ref().map_or_else(|failed| failed.counts, |counts| *counts);
        let number = |count: usize| if counts == Default::default() { "-".into() } else { count.to_string() };
        let verdict = outcome.as_ref().map_or_else(|failed| format!("FAILED: {}", failed.message), |_| "ok".into());
        let secs = elapsed.as_secs_f64();
        text += &format!("{name:14} {secs:9.1} {:>7} {:>7}  {verdict}\n", number(counts.passed), number(counts.failed));
    }
    let total: Duration = results.iter().map(|(_, elapsed, _)| *elapsed).sum();
    text += &format!("{:14} {:9.1}\n\n", "all", total.as_secs_f64());
    let failed: Vec<_> =
        results.iter().filter_map(|(name, _, outcome)| Some((name, outcome.as_ref().err()?))).collect();
    for (name, failed) in &failed {
        failed.failures.iter().for_each(|failure| text += &format!("FAILED in {name}: {}\n", failure.what));
    }
    text + &format!("{} passed, {} failed", results.len() - failed.len(), failed.len())
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::libtest::{Counts, Failure};

    fn parsed(line: &str) -> Parsed {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        spec().parse(&words).unwrap().unwrap()
    }

    fn names(line: &str) -> Vec<&'static str> {
        chosen(&parsed(line)).unwrap().iter().map(|step| step.name).collect()
    }

    #[test]
    fn steps_are_chosen() {
        assert_eq!(names("").len(), STEPS.len());
        assert_eq!(names("--only docs --only format"), ["format", "docs"]);
        assert!(!names("--skip docs").contains(&"docs"));
        assert!(!names("--no-mpi").contains(&"mpi"));
        assert!(chosen(&parsed("--only dosc")).err().unwrap().contains("did you mean \"docs\"?"));
        assert!(chosen(&parsed("--only mpi --no-mpi")).is_err());
    }

    #[test]
    fn failures_are_told_last() {
        let second = Duration::from_secs(1);
        let failure = Failure { what: "tests/copy.rs: wraps".into(), text: vec!["left: 1".into()] };
        let failed = Failed {
            message: "1 of 9 tests failed".into(),
            counts: Counts { passed: 8, failed: 1 },
            failures: vec![failure],
        };
        let results = [
            ("format", second, Ok(Counts::default())),
            ("tests", second, Ok(Counts { passed: 7, failed: 0 })),
            ("mpi", second, Err(failed)),
        ];
        let table = summary(&results);
        assert!(table.ends_with("FAILED in mpi: tests/copy.rs: wraps\n2 passed, 1 failed"), "{table}");
        assert!(table.contains("      8       1  FAILED: 1 of 9 tests failed"), "{table}");
        assert_eq!(failures(&results), "FAILED in mpi: tests/copy.rs: wraps\n    left: 1\n\n");
    }
}
