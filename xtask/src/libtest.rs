//! Reading what `cargo test` prints, line by line: how many tests passed, which failed, and what those said.

use std::collections::VecDeque;

/// Tests, or runs of examples, that a step has counted.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Counts {
    /// How many passed.
    pub passed: usize,
    /// How many did not.
    pub failed: usize,
}

/// Something that failed, and its output.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Which test of which program, or which command.
    pub what: String,
    /// The last lines of what it printed.
    pub text: Vec<String>,
}

/// How many lines of a failure are told again at the end.
const KEPT: usize = 30;

/// The state of the reader.
#[derive(Default)]
pub struct Reader {
    /// The sums over all test programs.
    pub counts: Counts,
    failures: Vec<Failure>,
    /// The program whose tests run, as Cargo names it.
    program: String,
    /// Whether that program has begun and not yet given its result.
    running: bool,
    /// Whether the lines that come belong to the last failure.
    within: bool,
    last: VecDeque<String>,
}

impl Reader {
    /// Takes the next line.
    pub fn feed(&mut self, line: &str) {
        push(&mut self.last, line);
        if let Some(program) = program(line) {
            self.lost();
            (self.program, self.within) = (program.into(), false);
        } else if line.starts_with("running ") && line.trim_end_matches('s').ends_with(" test") {
            self.running = true;
        } else if let Some(found) = result(line) {
            self.counts.passed += found.passed;
            self.counts.failed += found.failed;
            (self.running, self.within) = (false, false);
        } else if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.failure(name);
        } else if let Some(name) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            self.failure(name);
            self.within = true;
        } else if line == "failures:" {
            self.within = false;
        } else if self.within
            && let Some(failure) = self.failures.last_mut()
            && !noise(line)
        {
            failure.text.push(line.into());
        }
    }

    /// Opens the failure of this name, and makes it the last one.
    fn failure(&mut self, name: &str) {
        let what = if self.program.is_empty() { name.into() } else { format!("{}: {name}", self.program) };
        let known = self.failures.iter().position(|failure| failure.what == what);
        let failure = known.map_or(Failure { what, text: Vec::new() }, |at| self.failures.remove(at));
        self.failures.push(failure);
    }

    /// Notes a program that ended, by a signal for instance, without the result of its tests.
    fn lost(&mut self) {
        if std::mem::take(&mut self.running) {
            let what = format!("{}: ended without a result", self.program);
            self.failures.push(Failure { what, text: self.last.iter().cloned().collect() });
        }
    }

    /// What failed, each with its last lines; where a command failed and no test did, the command's own last lines.
    pub fn finish(mut self, command: &str, success: bool) -> Vec<Failure> {
        self.lost();
        if !success && self.failures.is_empty() {
            self.failures.push(Failure { what: command.into(), text: self.last.into() });
        }
        for failure in &mut self.failures {
            let surplus = failure.text.len().saturating_sub(KEPT);
            failure.text.drain(..surplus);
        }
        self.failures
    }
}

/// Keeps the last lines only.
fn push(last: &mut VecDeque<String>, line: &str) {
    if last.len() == KEPT {
        last.pop_front();
    }
    last.push_back(line.into());
}

/// Lines of a backtrace and empty ones, which would push the message itself out of what is kept.
fn noise(line: &str) -> bool {
    let line = line.trim_start();
    let frame = line.split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    line.is_empty() || frame || line.starts_with("at ") || line.starts_with("stack backtrace:")
}

/// The program in `     Running tests/copy.rs (target/…)` and in `   Doc-tests zippy`.
fn program(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let running = line.strip_prefix("Running ").and_then(|rest| rest.split_once(" (")).map(|(name, _)| name);
    running.map(|name| name.trim_start_matches("unittests ")).or(line.starts_with("Doc-tests ").then_some(line))
}

/// The counts in a line such as `test result: ok. 12 passed; 0 failed; 0 ignored; …`.
fn result(line: &str) -> Option<Counts> {
    let rest = line.strip_prefix("test result: ")?;
    let words: Vec<&str> = rest.split([' ', ';']).filter(|word| !word.is_empty()).collect();
    let number = |label: &str| words.windows(2).find(|pair| pair[1] == label).and_then(|pair| pair[0].parse().ok());
    Some(Counts { passed: number("passed")?, failed: number("failed")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, success: bool) -> (Counts, Vec<Failure>) {
        let mut reader = Reader::default();
        text.lines().for_each(|line| reader.feed(line));
        (reader.counts, reader.finish("cargo test", success))
    }

    const FAILING: &str = "     Running unittests src/lib.rs (target/debug/deps/zippy-1)

running 1 test
test region::works ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running tests/copy.rs (target/debug/deps/copy-1)

running 3 tests
test wraps ... FAILED
test fits ... ok
test overlaps ... FAILED

failures:

---- wraps stdout ----
thread 'wraps' panicked at tests/copy.rs:7:5:
left: 1
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/library/std/src/panicking.rs:689:5

---- overlaps stdout ----
on 3 ranks: no

failures:
    overlaps
    wraps

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

error: test failed, to rerun pass `--test copy`
";

    #[test]
    fn failing_tests_are_named_with_their_output() {
        let (counts, failures) = read(FAILING, false);
        assert_eq!(counts, Counts { passed: 2, failed: 2 });
        let wraps = ["thread 'wraps' panicked at tests/copy.rs:7:5:", "left: 1"].map(String::from);
        assert_eq!(failures[0], Failure { what: "tests/copy.rs: wraps".into(), text: wraps.into() });
        let overlaps = Failure { what: "tests/copy.rs: overlaps".into(), text: vec!["on 3 ranks: no".into()] };
        assert_eq!(failures[1..], [overlaps]);
    }

    #[test]
    fn success_leaves_nothing() {
        let passing = FAILING.split("     Running tests").next().unwrap();
        assert_eq!(read(passing, true), (Counts { passed: 1, failed: 0 }, Vec::new()));
    }

    #[test]
    fn a_program_that_dies_is_named() {
        let text =
            "     Running tests/a.rs (t)\n\nrunning 2 tests\ntest x ... ok\nSegmentation fault\n   Doc-tests zippy\n";
        let (_, failures) = read(&format!("{text}\nrunning 1 test\n"), false);
        let names: Vec<&str> = failures.iter().map(|failure| failure.what.as_str()).collect();
        assert_eq!(names, ["tests/a.rs: ended without a result", "Doc-tests zippy: ended without a result"]);
        assert!(failures[0].text.contains(&"Segmentation fault".to_string()));
    }

    #[test]
    fn a_command_without_tests_shows_its_last_lines() {
        let lines: Vec<String> = (0..100).map(|number| format!("line {number}")).collect();
        let (_, failures) = read(&lines.join("\n"), false);
        assert_eq!(failures[0].what, "cargo test");
        assert_eq!(failures[0].text, lines[100 - KEPT..]);
    }

    #[test]
    fn long_output_keeps_its_end() {
        let body: Vec<String> = (0..50).map(|number| format!("line {number}")).collect();
        let (_, failures) = read(&format!("---- x stdout ----\n{}\nfailures:\n", body.join("\n")), false);
        assert_eq!(failures[0].text, body[50 - KEPT..]);
    }

    #[test]
    fn results_are_read() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        assert_eq!(result(line), Some(Counts { passed: 12, failed: 3 }));
        assert_eq!(result("test region::tests::x ... ok"), None);
    }
}
