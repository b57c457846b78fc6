//! Running Cargo's commands and reading what they print, line by line: how many tests passed, which failed and what those
//! said. Silence that lasts is taken for a hang.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Nothing here is silent for so long: programs' own waits end before, and so does the build of any one crate.
const SILENCE: Duration = Duration::from_secs(900);

/// How a step ended.
pub type Outcome = Result<Counts, Failed>;

/// Why a step failed: in one line, what was counted all the same, and each thing that failed.
#[derive(Debug)]
pub struct Failed {
    pub message: String,
    pub counts: Counts,
    pub failures: Vec<Failure>,
}

impl From<String> for Failed {
    fn from(message: String) -> Self {
        Failed { message, counts: Counts::default(), failures: Vec::new() }
    }
}

/// Runs a Cargo command to its end.
pub fn watched(command: Command) -> Outcome {
    watched_for(command, SILENCE)
}

fn watched_for(mut command: Command, silence: Duration) -> Outcome {
    // Tests choose their own number of ranks; a snapshot that differs fails and leaves no file behind.
    command.env_remove("ZIPPY_RANKS").env("INSTA_UPDATE", "no").stdin(Stdio::null());
    let line = command.get_args().fold("cargo".to_string(), |line, word| line + " " + &word.to_string_lossy());
    let problem = |error: std::io::Error| format!("{line}: {error}");
    // Both streams go through one pipe, so that their lines stay in order.
    let (output, input) = std::io::pipe().map_err(problem)?;
    command.stdout(input.try_clone().map_err(problem)?).stderr(input);
    let mut child = command.spawn().map_err(problem)?;
    // The command holds ends of the pipe that would keep it open.
    drop(command);
    let lines = lines(output);
    let mut reader = Reader::default();
    loop {
        let (text, silent) = match lines.recv_timeout(silence) {
            Ok(text) => (text, false),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => (end(child.id(), silence), true),
        };
        say!("{text}");
        reader.feed(&text);
        if silent {
            break;
        }
    }
    let status = child.wait().map_err(problem)?;
    let counts = reader.counts;
    let failures = reader.finish(&line, status.success());
    let message = match (status.success(), counts) {
        (true, _) => return Ok(counts),
        (false, Counts { passed: 0, failed: 0 }) => format!("{status}"),
        (false, Counts { passed, failed: 0 }) => format!("{status} ({passed} tests passed)"),
        (false, Counts { passed, failed }) => format!("{failed} of {} tests failed", failed + passed),
    };
    Err(Failed { message, counts, failures })
}

/// The lines of a stream as they come.
fn lines(output: PipeReader) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for bytes in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&bytes).into_owned()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Ends a process that has been silent, with all that it started, and says so.
fn end(process: u32, silence: Duration) -> String {
    let numbers: Vec<String> = family(process).iter().map(u32::to_string).collect();
    let killed = Command::new("kill").arg("-KILL").args(&numbers).status().is_ok_and(|status| status.success());
    let what = if killed { "it was ended" } else { "not all of it could be ended" };
    format!("nothing was printed for {} s; {what}", silence.as_secs())
}

/// A process and everything that descends from it, where the system tells (`/proc`).
fn family(process: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |number: u32| -> Option<u32> {
        // The name in parentheses may itself contain spaces and parentheses.
        let text = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let links: Vec<(u32, u32)> = numbers.filter_map(|number| Some((number, parent(number)?))).collect();
    let mut found = Vec::new();
    let mut open = vec![process];
    while let Some(next) = open.pop() {
        open.extend(links.iter().filter(|(_, parent)| *parent == next).map(|(number, _)| *number));
        found.push(next);
    }
    found
}

/// Tests, or runs of examples, that a step has counted.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Counts {
    pub passed: usize,
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
#[path = "../tests/unit/cargo_test.rs"]
mod tests;
