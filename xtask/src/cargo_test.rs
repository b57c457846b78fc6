//! Running Cargo's commands and reading what they print, line by line: how many tests passed, which failed and what those
//! said. Silence that lasts is taken for a hang.

use std::io::{BufRead, BufReader, PipeReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Nothing here is silent for so long: programs' own waits end before, and so does the build of any one crate.
pub const SILENCE: Duration = Duration::from_secs(900);

/// How many lines of a failure are told again at the end: those of a test with a backtrace.
const KEPT: usize = 50;

/// What a step came to.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    /// Tests, or runs of examples.
    pub passed: usize,
    pub failed: usize,
    /// Tests that filters left out of programs that ran others.
    pub skipped: usize,
    pub failures: Vec<Failure>,
    /// Why the step failed, if it did, in one line.
    pub problem: Option<String>,
    /// All that was printed.
    pub lines: Vec<String>,
}

/// Something that failed: which test of which program, or which command, and the last lines of what it printed.
#[derive(Debug, PartialEq)]
pub struct Failure {
    pub what: String,
    pub text: String,
}

impl Failure {
    pub fn new(what: &str, lines: &[String]) -> Self {
        let text = lines[lines.len().saturating_sub(KEPT)..].join("\n");
        Failure { what: what.into(), text: text.trim().into() }
    }
}

/// Runs a command of that name to its end, and ends it where it is silent for so long.
pub fn watched(mut command: Command, name: &str, silence: Duration) -> Result<Outcome, String> {
    let problem = |error: std::io::Error| format!("{name}: {error}");
    // Both streams go through one pipe, so that their lines stay in order.
    let (output, input) = std::io::pipe().map_err(problem)?;
    command.stdin(Stdio::null()).stdout(input.try_clone().map_err(problem)?).stderr(input);
    let mut child = command.spawn().map_err(problem)?;
    // The command holds ends of the pipe that would keep it open.
    drop(command);
    let coming = lines(output);
    let mut lines = Vec::new();
    let mut silent = false;
    while !silent {
        let text = match coming.recv_timeout(silence) {
            Ok(text) => text,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                silent = true;
                end(child.id(), silence)
            }
        };
        say!("{text}");
        lines.push(text);
    }
    let status = child.wait().map_err(problem)?;
    let mut outcome = read(lines);
    if status.success() {
        outcome.failures.clear();
        return Ok(outcome);
    }
    // Where a command failed and no test did, the command itself.
    if outcome.failures.is_empty() {
        outcome.failures.push(Failure::new(name, &outcome.lines));
    }
    outcome.problem = Some(match (outcome.passed, outcome.failed) {
        (0, 0) => status.to_string(),
        (passed, 0) => format!("{status} ({passed} tests passed)"),
        (passed, failed) => format!("{failed} of {} tests failed", failed + passed),
    });
    Ok(outcome)
}

/// The lines of a stream as they come.
fn lines(output: PipeReader) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
        lines.all(|line| sender.send(String::from_utf8_lossy(&line).into_owned()).is_ok())
    });
    receiver
}

/// Ends a process that has been silent, with all that it started, and says so.
fn end(process: u32, silence: Duration) -> String {
    let _ = Command::new("kill").arg("-KILL").args(family(&process.to_string())).status();
    format!("nothing was printed for {} s; it was ended", silence.as_secs())
}

/// A process and everything that descends from it, where the system tells (`/proc`).
fn family(process: &str) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let children: String = children.collect();
    std::iter::once(process.into()).chain(children.split_whitespace().flat_map(family)).collect()
}

/// What the lines of Cargo and of test programs say.
fn read(lines: Vec<String>) -> Outcome {
    let mut outcome = Outcome::default();
    // The program whose tests run, as Cargo names it, and whether it has begun and not yet given its result.
    let (mut name, mut running) = ("", false);
    // A last line of no program ends the one before.
    for (at, line) in lines.iter().map(String::as_str).chain(["Doc-tests"]).enumerate() {
        if let Some(next) = program(line) {
            // Ended by a signal, for instance.
            let lost = running.then(|| Failure::new(&format!("{name}: ended without a result"), &lines[..at]));
            outcome.failures.extend(lost);
            (name, running) = (next, false);
        } else if line.starts_with("running ") && line.trim_end_matches('s').ends_with(" test") {
            running = true;
        } else if let Some([passed, failed, skipped]) = result(line) {
            outcome.passed += passed;
            outcome.failed += failed;
            outcome.skipped += if passed + failed > 0 { skipped } else { 0 };
            running = false;
        } else if let Some(test) = section(line) {
            let rest = &lines[at + 1..];
            let end = rest.iter().position(|line| section(line).is_some() || line == "failures:");
            outcome.failures.push(Failure::new(&format!("{name}: {test}"), &rest[..end.unwrap_or(rest.len())]));
        }
    }
    Outcome { lines, ..outcome }
}

/// The test in `---- wraps stdout ----`, before what it printed.
fn section(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// The program in `     Running tests/copy.rs (target/…)` and in `   Doc-tests zippy`.
fn program(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let running = line.strip_prefix("Running ").and_then(|rest| rest.split_once(" (")).map(|(name, _)| name);
    running.map(|name| name.trim_start_matches("unittests ")).or(line.starts_with("Doc-tests").then_some(line))
}

/// How many passed, failed and were left out in a line such as `test result: ok. 12 passed; 0 failed; 0 ignored; 0
/// measured; 3 filtered out; …`.
fn result(line: &str) -> Option<[usize; 3]> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut numbers = rest.split("; ").filter_map(|part| part.split(' ').next()?.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.nth(2)?])
}

#[cfg(test)]
#[path = "../tests/unit/cargo_test.rs"]
mod tests;
