//! Results of parts, read from what their processes have printed and left in files.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::child::Ended;

/// The result of a part.
#[derive(Debug, Default)]
pub struct Outcome {
    pub secs: f64,
    /// Tests that passed.
    pub passed: usize,
    /// Names of tests that failed.
    pub failed: Vec<String>,
    /// Names of tests that had begun when the part was cut off, or that ended their process.
    pub unfinished: Vec<String>,
    /// A benchmark's cases.
    pub cases: Vec<Value>,
    /// The problem, where the part did not end well within its time.
    pub problem: Option<String>,
    /// The reason, where the part does not fit this machine.
    pub left_out: Option<String>,
}

impl Outcome {
    pub fn left_out(why: String) -> Self {
        Self { left_out: Some(why), ..Self::default() }
    }

    /// Whether everything that ran has passed. That the time did not suffice for all is no failure, but that it sufficed for
    /// nothing is one.
    pub fn is_good(&self) -> bool {
        let has_results = self.passed > 0 || !self.cases.is_empty();
        let is_cut = |problem: &str| problem.starts_with("cut off") && has_results;
        self.failed.is_empty() && self.problem.as_deref().is_none_or(is_cut)
    }

    /// One line for people.
    pub fn summary(&self) -> String {
        if let Some(why) = &self.left_out {
            return format!("left out: {why}");
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

fn ended(result: Result<Ended, String>) -> (Ended, Outcome) {
    match result {
        Ok(ended) => {
            let outcome = Outcome { secs: ended.secs, problem: ended.problem.clone(), ..Outcome::default() };
            (ended, outcome)
        }
        Err(problem) => {
            let ended = Ended { text: String::new(), secs: 0.0, problem: None };
            (ended, Outcome { problem: Some(problem), ..Outcome::default() })
        }
    }
}

/// Reads the lines of the test harness, which was given these names, or chose among all tests where there are none. Tests
/// that run next to each other are written when they end.
pub fn of_tests(result: Result<Ended, String>, names: &[String]) -> Outcome {
    let (ended, mut outcome) = ended(result);
    let mut unseen: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let mut running = None;
    for line in ended.text.lines() {
        let started = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "));
        let (name, end) = match (started, running) {
            (Some(started), _) => started,
            (None, Some(name)) => (name, line),
            (None, None) => continue,
        };
        unseen.remove(name);
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
    outcome.unfinished.extend(unseen.into_iter().map(String::from));
    if outcome.passed + outcome.failed.len() == 0 && outcome.problem.is_none() {
        outcome.problem = Some("no test was run".into());
    }
    outcome
}

/// Reads the numbers that a benchmark leaves, which are those of the cases before where it was cut off.
pub fn of_benchmark(result: Result<Ended, String>, numbers: &Path) -> Outcome {
    let (_, mut outcome) = ended(result);
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

/// A program's exit code is its result.
pub fn of_program(result: Result<Ended, String>) -> Outcome {
    ended(result).1
}

/// Two runs of a program, which must print the same hash.
pub fn of_programs(first: Result<Ended, String>, second: Result<Ended, String>) -> Outcome {
    let ((first, mut outcome), (second, other)) = (ended(first), ended(second));
    outcome.secs += other.secs;
    outcome.problem = outcome.problem.or(other.problem).or_else(|| match [&first, &second].map(hash) {
        [Some(one), Some(two)] if one == two => None,
        [one, two] => Some(format!("the runs print different hashes: {one:?} and {two:?}")),
    });
    outcome
}

/// The hash that a program has printed.
fn hash(ended: &Ended) -> Option<&str> {
    ended.text.lines().find_map(|line| line.trim().strip_prefix("hash "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harness(text: &str, problem: Option<&str>) -> Outcome {
        let ended = Ended { text: text.into(), secs: 1.0, problem: problem.map(String::from) };
        of_tests(Ok(ended), &["a".into(), "b".into()])
    }

    #[test]
    fn test_output_between_name_and_result_is_ignored() {
        let outcome =
            harness("test a ... 12 cells\nhalf a line, ok\nok\ntest b ... what?\nFAILED\ntest c ... no end\n", None);
        assert_eq!((outcome.passed, &outcome.failed[..]), (1, &["b".to_string()][..]));
        assert_eq!(outcome.unfinished, ["c"]);
    }

    #[test]
    fn lines_of_the_harness_are_counted_by_their_ends() {
        let text = "running 4 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest d ... ignored, why\n\
                    test e - should panic ... ok\nfailures:\n    a::c\n";
        let outcome = harness(text, Some("exit status: 101"));
        assert_eq!((outcome.passed, &outcome.failed[..]), (2, &["a::c".to_string()][..]));
        assert!(!outcome.is_good());
    }

    #[test]
    fn hashes_of_two_runs_that_differ_are_a_problem() {
        let run = |text: &str| Ok(Ended { text: text.into(), secs: 1.0, problem: None });
        assert!(of_programs(run("cells\n  hash 0a\n"), run("  hash 0a\n")).is_good());
        for (one, two) in [("hash 0a", "hash 0b"), ("hash 0a", ""), ("", "")] {
            let outcome = of_programs(run(one), run(two));
            assert!(outcome.problem.unwrap().contains("hash"), "{one} {two}");
        }
    }

    #[test]
    fn part_without_a_test_is_a_problem_and_a_cut_is_none() {
        assert!(!harness("running 0 tests\n", None).is_good());
        let cut = harness("test a ... ok\ntest b ... ", Some("cut off after 9 s"));
        assert!(cut.is_good());
        assert_eq!(cut.unfinished, ["b"]);
        // A device that hangs.
        assert!(!harness("running 2 tests\n", Some("cut off after 9 s")).is_good());
        // A test that ends its process has not passed.
        assert!(!harness("test a ... ok\ntest b ... ", Some("signal: 6 (SIGABRT)")).is_good());
        assert_eq!(harness("test a ... ok\n", Some("signal: 6 (SIGABRT)")).unfinished, ["b"]);
    }
}
