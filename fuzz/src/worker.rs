//! Reads inputs, one after the other, and says in a line what each of them did.

use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Instant;

use crate::common::counting::{limit, most};
use crate::common::volumes::Folder;
use crate::input;
use crate::samples::{memory, write};

/// A worker does not get more than a gibibyte.
const MOST: isize = 1 << 30;

/// How reading an input ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Read,
    Refused,
    /// Not as it should; what is wrong.
    Wrong(String),
}

/// One input.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub number: u64,
    pub secs: f64,
    /// The most memory held at a time.
    pub bytes: u64,
    pub outcome: Outcome,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, secs, bytes, outcome } = self;
        match outcome {
            Outcome::Read => write!(f, "{number} {secs} {bytes} read"),
            Outcome::Refused => write!(f, "{number} {secs} {bytes} refused"),
            Outcome::Wrong(what) => write!(f, "{number} {secs} {bytes} wrong {}", what.escape_debug()),
        }
    }
}

impl FromStr for Line {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let mut words = line.splitn(5, ' ');
        let mut word = || words.next().ok_or(());
        let number = word()?.parse().map_err(drop)?;
        let secs = word()?.parse().map_err(drop)?;
        let bytes = word()?.parse().map_err(drop)?;
        let outcome = match word()? {
            "read" => Outcome::Read,
            "refused" => Outcome::Refused,
            "wrong" => Outcome::Wrong(word()?.into()),
            _ => return Err(()),
        };
        Ok(Self { number, secs, bytes, outcome })
    }
}

/// Reads every `step`-th input from `first` on, out of `folder`, until it is ended, or nobody listens.
pub fn work(seed: u64, first: u64, step: u16, folder: Folder) {
    let samples = input::all();
    quiet();
    limit(MOST);
    let mut out = std::io::stdout().lock();
    for number in (first..).step_by(step.into()) {
        let files = input::make(&samples, seed, number);
        let length = files.iter().map(|(_, bytes)| bytes.len()).sum();
        let path = write(&folder, &files);
        drop(files);
        if writeln!(out, "{}", judge(number, &path, length)).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// Reads the files of a finding, of which the first one is told by its name.
///
/// # Errors
/// What went wrong.
pub fn replay(folder: &Path) -> Result<String, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let name = |path: &&PathBuf| path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string();
    let opened = |path: &&PathBuf| {
        let name = name(path);
        name.starts_with("main.") && !name.contains(".img") || name.starts_with("arrays.") || name.ends_with(".json")
    };
    let path = paths.iter().find(opened).ok_or(format!("{} holds no input", folder.display()))?;
    let sizes = paths.iter().filter_map(|path| path.metadata().ok()).map(|found| found.len() as usize);
    quiet();
    limit(MOST);
    let Line { secs, bytes, outcome, .. } = judge(0, path, sizes.sum());
    match outcome {
        Outcome::Wrong(what) => Err(format!("{secs:.3} s: {what}")),
        Outcome::Read => Ok(format!("{secs:.3} s, {bytes} bytes held at a time: read")),
        Outcome::Refused => {
            let said = input::read(path).err().map_or(String::new(), |error| error.to_string());
            Ok(format!("{secs:.3} s, {bytes} bytes held at a time: {said}"))
        }
    }
}

/// Reads one input.
fn judge(number: u64, path: &Path, length: usize) -> Line {
    let begun = Instant::now();
    let mut outcome = Outcome::Read;
    let bytes = most(|| {
        outcome = match catch_unwind(AssertUnwindSafe(|| input::read(path))) {
            Ok(Ok(())) => Outcome::Read,
            Ok(Err(error)) => shown(&error.to_string()),
            Err(_) => Outcome::Wrong(format!("a panic: {}", PANIC.lock().map_or(String::new(), |text| text.clone()))),
        };
    });
    let secs = begun.elapsed().as_secs_f64();
    if bytes > memory(length) && !matches!(outcome, Outcome::Wrong(_)) {
        outcome = Outcome::Wrong(format!("{bytes} bytes held at a time for an input of {length}"));
    }
    Line { number, secs, bytes: bytes.max(0) as u64, outcome }
}

/// Whether the message can be shown.
fn shown(message: &str) -> Outcome {
    match message.chars().count() < 1000
        && !message.contains(|letter: char| letter.is_control() || letter == '\u{202e}')
    {
        true => Outcome::Refused,
        false => Outcome::Wrong(format!("a message that is long or speaks to the terminal: {message}")),
    }
}

/// What the last panic said.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn quiet() {
    std::panic::set_hook(Box::new(|panic| {
        if let Ok(mut text) = PANIC.lock() {
            *text = panic.to_string();
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn samples_are_read() {
        let folder = Folder::new();
        for (number, sample) in input::all().into_iter().enumerate() {
            let files: Vec<_> = sample.iter().map(|content| (content.name, content.bytes())).collect();
            let path = samples::write(&folder, &files);
            assert_eq!(judge(7, &path, 100).outcome, Outcome::Read, "sample {number}");
        }
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        for outcome in [Outcome::Read, Outcome::Refused, Outcome::Wrong("a panic: at a.rs:7".into())] {
            let line = Line { number: 7, secs: 0.125, bytes: 99, outcome };
            assert_eq!(line.to_string().parse(), Ok(line));
        }
        let broken = Line { number: 7, secs: 0.5, bytes: 9, outcome: Outcome::Wrong("two\nlines".into()) };
        assert_eq!(broken.to_string(), "7 0.5 9 wrong two\\nlines");
        assert_eq!("7 0.5".parse::<Line>(), Err(()));
    }

    #[test]
    fn messages_that_cannot_be_shown_are_wrong() {
        assert_eq!(shown("a.nrrd, byte 3: no"), Outcome::Refused);
        assert!(matches!(shown("a\x1b[2Jb"), Outcome::Wrong(_)));
        assert!(matches!(shown(&"x".repeat(1000)), Outcome::Wrong(_)));
    }
}
