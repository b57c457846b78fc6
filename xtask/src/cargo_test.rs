//! Runs Cargo commands and parses their output line by line: number of passed tests, failed tests
//! and their output. A long silence counts as a hang.

use std::io::{BufRead, BufReader, PipeReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result};

/// Maximum time between two lines of output of a command. Waits of programs and builds of crates
/// are shorter.
pub(crate) const MAX_SILENCE: Duration = Duration::from_secs(900);

/// Number of lines of a failure that the summary repeats: enough for a test with a backtrace.
const KEPT_LINES: usize = 50;

/// Outcome of a step.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// Number of passed tests, or of runs of examples.
    pub passed: usize,
    pub failed: usize,
    /// Number of tests that filters skipped, in test programs that ran at least one test.
    pub skipped: usize,
    pub failures: Vec<Failure>,
    /// Reason for the failure of the step, in one line; `None` for success.
    pub problem: Option<String>,
    /// Reason why the step was not run, in one line; `None` if it was.
    pub not_run: Option<String>,
    /// Complete output.
    pub lines: Vec<String>,
}

/// A failed test or command.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    /// Program and test, or the command.
    pub name: String,
    /// Last lines of the output.
    pub text: String,
}

impl Failure {
    pub(crate) fn new(name: &str, lines: &[String]) -> Self {
        let text = lines[lines.len().saturating_sub(KEPT_LINES)..].join("\n");
        Failure { name: name.into(), text: text.trim().into() }
    }
}

/// Runs a command, prints and parses its output, and returns the outcome. Ends the command and all
/// its descendants after a silence of more than `max_silence`.
pub(crate) fn run_with_timeout(mut command: Command, name: &str, max_silence: Duration) -> Result<Outcome> {
    // One pipe for both streams keeps their lines in order.
    let (output, input) = std::io::pipe().context(name.to_owned())?;
    command.stdin(Stdio::null()).stdout(input.try_clone().context(name.to_owned())?).stderr(input);
    let mut child = command.spawn().context(name.to_owned())?;
    // The command holds ends of the pipe, which would keep the pipe open.
    drop(command);
    let receiver = spawn_line_reader(output);
    let mut lines = Vec::new();
    let mut silent = false;
    while !silent {
        let text = match receiver.recv_timeout(max_silence) {
            Ok(text) => text,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                silent = true;
                kill_silent_process(child.id(), max_silence)
            }
        };
        say!("{text}");
        lines.push(text);
    }
    let status = child.wait().context(name.to_owned())?;
    let mut outcome = parse_output(lines);
    if status.success() {
        outcome.failures.clear();
        return Ok(outcome);
    }
    // The command failed, but no test did.
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

/// Starts a thread that sends the lines of a stream as they arrive.
fn spawn_line_reader(output: PipeReader) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
        lines.all(|line| sender.send(String::from_utf8_lossy(&line).into_owned()).is_ok())
    });
    receiver
}

/// Kills a silent process with all its descendants, and returns a message about it.
fn kill_silent_process(process: u32, silence: Duration) -> String {
    let _ = Command::new("kill").arg("-KILL").args(process_with_descendants(&process.to_string())).status();
    format!("nothing was printed for {} s; it was ended", silence.as_secs())
}

/// Identifiers of a process and of all its descendants, from `/proc`.
fn process_with_descendants(process: &str) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let children: String = children.collect();
    std::iter::once(process.into()).chain(children.split_whitespace().flat_map(process_with_descendants)).collect()
}

/// Parses the output of Cargo and of test programs.
fn parse_output(lines: Vec<String>) -> Outcome {
    let mut outcome = Outcome::default();
    // Name of the current test program, and true between its begin and its result.
    let (mut name, mut running) = ("", false);
    // The added last line ends the last program.
    for (index, line) in lines.iter().map(String::as_str).chain(["Doc-tests"]).enumerate() {
        if let Some(next) = test_program_name(line) {
            // A signal may have ended the program, for example.
            let no_result = || Failure::new(&format!("{name}: ended without a result"), &lines[..index]);
            outcome.failures.extend(running.then(no_result));
            (name, running) = (next, false);
        } else if line.starts_with("running ") && line.trim_end_matches('s').ends_with(" test") {
            running = true;
        } else if let Some([passed, failed, skipped]) = test_counts(line) {
            outcome.passed += passed;
            outcome.failed += failed;
            outcome.skipped += if passed + failed > 0 { skipped } else { 0 };
            running = false;
        } else if let Some(test) = failed_test_name(line) {
            let rest = &lines[index + 1..];
            let end = rest.iter().position(|line| failed_test_name(line).is_some() || line == "failures:");
            outcome.failures.push(Failure::new(&format!("{name}: {test}"), &rest[..end.unwrap_or(rest.len())]));
        }
    }
    Outcome { lines, ..outcome }
}

/// Name of the test in `---- wraps stdout ----`, the line before its output.
fn failed_test_name(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// Name of the program in `     Running tests/copy.rs (target/…)` and in `   Doc-tests zippy`.
fn test_program_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let running = line.strip_prefix("Running ").and_then(|rest| rest.split_once(" (")).map(|(name, _)| name);
    running.map(|name| name.trim_start_matches("unittests ")).or(line.starts_with("Doc-tests").then_some(line))
}

/// Numbers of passed, failed and skipped tests in a line such as `test result: ok. 12 passed; 0
/// failed; 0 ignored; 0 measured; 3 filtered out; …`.
fn test_counts(line: &str) -> Option<[usize; 3]> {
    let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut numbers = rest.split("; ").filter_map(|part| part.split(' ').next()?.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.nth(2)?])
}

#[cfg(test)]
#[path = "../tests/unit/cargo_test.rs"]
mod tests;
