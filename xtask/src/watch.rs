//! Running a step's command: its output is passed through and read, and silence that lasts is taken for a hang.

use std::io::{BufRead, BufReader, PipeReader};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::libtest::{Counts, Failure, Reader};

/// Nothing here is silent for so long: programs' own waits end before, and so does the build of any one crate.
const SILENCE: Duration = Duration::from_secs(900);

/// How a step ended.
pub type Outcome = Result<Counts, Failed>;

/// Why a step failed.
#[derive(Debug)]
pub struct Failed {
    /// In one line.
    pub message: String,
    /// What was counted all the same.
    pub counts: Counts,
    /// Each thing that failed, with its output.
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
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    let line = std::iter::once("cargo".into()).chain(words).collect::<Vec<_>>().join(" ");
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
    let mut found = vec![process];
    let mut at = 0;
    while at < found.len() {
        let of = found[at];
        found.extend(links.iter().filter(|(_, parent)| *parent == of).map(|(number, _)| *number));
        at += 1;
    }
    found
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_are_read_in_order() {
        let script = "echo '     Running a (t)' >&2; echo 'running 1 test'; echo 'test x ... FAILED'; exit 3";
        let failed = watched(shell(script)).unwrap_err();
        let names: Vec<&str> = failed.failures.iter().map(|failure| failure.what.as_str()).collect();
        assert_eq!(names, ["a: x", "a: ended without a result"]);
        assert!(failed.message.contains('3'), "{}", failed.message);
        let line = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        assert_eq!(watched(shell(&format!("echo '{line}'"))).unwrap(), Counts { passed: 2, failed: 0 });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_hang_is_ended_with_all_that_it_started() {
        let script = "echo '     Running a (t)'; echo 'running 1 test'; (sleep 3600; echo never) | cat";
        let failed = watched_for(shell(script), Duration::from_millis(300)).unwrap_err();
        assert_eq!(failed.failures[0].what, "a: ended without a result");
        assert!(failed.failures[0].text.last().unwrap().contains("it was ended"), "{failed:?}");
    }
}
