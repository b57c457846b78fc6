//! [`Outcome`]: result of a part, from the output and the files of its processes.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::child::ProcessResult;

#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub secs: f64,
    /// Number of passed tests.
    pub passed: usize,
    /// Names of failed tests.
    pub failed: Vec<String>,
    /// Names of tests without a result, because the process ended before.
    pub unfinished: Vec<String>,
    pub cases: Vec<Value>,
    /// Reason why the part did not succeed within its time limit.
    pub problem: Option<String>,
    /// Reason why the part cannot run on this machine.
    pub left_out: Option<String>,
}

impl Outcome {
    pub(crate) fn left_out(reason: String) -> Self {
        Self { left_out: Some(reason), ..Self::default() }
    }

    /// True if no test failed and the part had no problem. A part that was cut off is good if it
    /// has a result.
    pub(crate) fn is_good(&self) -> bool {
        let has_results = self.passed > 0 || !self.cases.is_empty();
        let is_cut = |problem: &str| problem.starts_with("cut off") && has_results;
        self.failed.is_empty() && self.problem.as_deref().is_none_or(is_cut)
    }

    pub(crate) fn summary(&self) -> String {
        if let Some(reason) = &self.left_out {
            return format!("left out: {reason}");
        }
        let mut words = Vec::new();
        if self.passed + self.failed.len() > 0 {
            words.push(format!("{} passed, {} failed", self.passed, self.failed.len()));
        }
        if !self.cases.is_empty() {
            words.push(format!("{} cases", self.cases.len()));
        }
        words.extend(self.problem.clone());
        format!("{} in {:.1} s", if words.is_empty() { "done".into() } else { words.join(", ") }, self.secs)
    }
}

fn split_outcome(result: Result<ProcessResult>) -> (ProcessResult, Outcome) {
    match result {
        Ok(ended) => {
            let outcome = Outcome { secs: ended.secs, problem: ended.problem.clone(), ..Outcome::default() };
            (ended, outcome)
        }
        Err(problem) => {
            let ended = ProcessResult { text: String::new(), secs: 0.0, problem: None };
            (ended, Outcome { problem: Some(format!("{problem:#}")), ..Outcome::default() })
        }
    }
}

/// Reads the output of a test harness that ran the tests `names`, or tests by filters if `names` is
/// empty. Tests without a result line are unfinished.
pub(crate) fn test_outcome(result: Result<ProcessResult>, names: &[String]) -> Outcome {
    let (ended, mut outcome) = split_outcome(result);
    let mut without_result: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let mut running = None;
    for line in ended.text.lines() {
        let started = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "));
        let (name, end) = match (started, running) {
            (Some(started), _) => started,
            (None, Some(name)) => (name, line),
            (None, None) => continue,
        };
        without_result.remove(name);
        if started.is_some() {
            outcome.unfinished.extend(running.map(String::from));
            running = Some(name);
        }
        match end.trim() {
            "ok" => outcome.passed += 1,
            "FAILED" => outcome.failed.push(name.into()),
            end if end.starts_with("ignored") => {}
            // Output of the running test.
            _ => continue,
        }
        running = None;
    }
    outcome.unfinished.extend(running.map(String::from));
    outcome.unfinished.extend(without_result.into_iter().map(String::from));
    if outcome.passed + outcome.failed.len() == 0 && outcome.problem.is_none() {
        outcome.problem = Some("no test was run".into());
    }
    outcome
}

/// Reads the file of results of a benchmark. A benchmark that was cut off has the results of the
/// cases that ended.
pub(crate) fn benchmark_outcome(result: Result<ProcessResult>, numbers: &Path) -> Outcome {
    let (_, mut outcome) = split_outcome(result);
    let read = || -> Option<Vec<Value>> {
        let value: Value = serde_json::from_str(&std::fs::read_to_string(numbers).ok()?).ok()?;
        Some(value["cases"].as_array()?.clone())
    };
    match read() {
        Some(cases) => outcome.cases = cases,
        None if outcome.problem.is_none() => outcome.problem = Some("the benchmark left no numbers".into()),
        None => {}
    }
    outcome
}

/// Returns the result of a program: its exit status.
pub(crate) fn program_outcome(result: Result<ProcessResult>) -> Outcome {
    split_outcome(result).1
}

/// Compares two runs of a program: both must succeed and print the same hash.
pub(crate) fn compared_outcome(first: Result<ProcessResult>, second: Result<ProcessResult>) -> Outcome {
    let ((first, mut outcome), (second, other)) = (split_outcome(first), split_outcome(second));
    outcome.secs += other.secs;
    outcome.problem = outcome.problem.or(other.problem).or_else(|| match [&first, &second].map(hash) {
        [Some(first), Some(second)] if first == second => None,
        [first, second] => Some(format!("the runs print different hashes: {first:?} and {second:?}")),
    });
    outcome
}

fn hash(ended: &ProcessResult) -> Option<&str> {
    ended.text.lines().find_map(|line| line.trim().strip_prefix("hash "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harness(text: &str, problem: Option<&str>) -> Outcome {
        let ended = ProcessResult { text: text.into(), secs: 1.0, problem: problem.map(String::from) };
        test_outcome(Ok(ended), &["a".into(), "b".into()])
    }

    #[test]
    fn test_output_between_name_and_result_is_ignored() {
        let outcome =
            harness("test a ... 12 cells\nhalf a line, ok\nok\ntest b ... what?\nFAILED\ntest c ... no end\n", None);
        assert_eq!((outcome.passed, &outcome.failed[..]), (1, &["b".to_string()][..]));
        assert_eq!(outcome.unfinished, ["c"]);
    }

    #[test]
    fn passed_and_failed_lines_of_the_harness_are_counted() {
        let text = "running 4 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest d ... ignored, why\n\
                    test e - should panic ... ok\nfailures:\n    a::c\n";
        let outcome = harness(text, Some("exit status: 101"));
        assert_eq!((outcome.passed, &outcome.failed[..]), (2, &["a::c".to_string()][..]));
        assert!(!outcome.is_good());
    }

    #[test]
    fn different_hashes_of_two_runs_are_a_problem() {
        let run = |text: &str| Ok(ProcessResult { text: text.into(), secs: 1.0, problem: None });
        assert!(compared_outcome(run("cells\n  hash 0a\n"), run("  hash 0a\n")).is_good());
        for (first, second) in [("hash 0a", "hash 0b"), ("hash 0a", ""), ("", "")] {
            let outcome = compared_outcome(run(first), run(second));
            assert!(outcome.problem.unwrap().contains("hash"), "{first} {second}");
        }
    }

    #[test]
    fn part_without_a_result_is_not_good_and_part_cut_off_after_a_result_is_good() {
        assert!(!harness("running 0 tests\n", None).is_good());
        let cut = harness("test a ... ok\ntest b ... ", Some("cut off after 9 s"));
        assert!(cut.is_good());
        assert_eq!(cut.unfinished, ["b"]);
        assert!(!harness("running 2 tests\n", Some("cut off after 9 s")).is_good());
        // A test that ends its process has not passed.
        assert!(!harness("test a ... ok\ntest b ... ", Some("signal: 6 (SIGABRT)")).is_good());
        assert_eq!(harness("test a ... ok\n", Some("signal: 6 (SIGABRT)")).unfinished, ["b"]);
    }
}
