//! Reads inputs, one after the other, and says in a line what each of them did.

use std::fmt;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Instant;

use zippy::{Config, Error, World};

use crate::common::counting::{limit, most};
use crate::common::volumes::Folder;
use crate::samples::write;
use crate::target::{self, Inputs, Target};

/// Names the file of a finding that is read.
pub const FIRST: &str = "first";

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

/// Reads every `step`-th input of a target from `first` on, out of `folder`, until it is ended, or nobody listens.
///
/// # Errors
/// There is no device, or the library cannot write what is to be damaged.
pub fn work(target: Target, seed: u64, first: u64, step: u16, folder: &Folder) -> Result<(), String> {
    on_one_rank(|world| {
        let inputs = Inputs::new(target, seed, world)?;
        quiet();
        limit(MOST);
        let mut out = std::io::stdout().lock();
        for number in (first..).step_by(step.into()) {
            let files = inputs.make(number);
            let length = files.iter().map(|(_, bytes)| bytes.len()).sum();
            let path = write(folder, &files);
            drop(files);
            if writeln!(out, "{}", judge(number, &path, length, &folder.0, world)).and_then(|()| out.flush()).is_err() {
                break;
            }
        }
        Ok(())
    })
}

/// What these inputs of a target do, here and now.
///
/// # Errors
/// As [`work`].
#[cfg(test)]
pub fn judged(target: Target, seed: u64, numbers: std::ops::Range<u64>, folder: &Folder) -> Result<Vec<Line>, String> {
    on_one_rank(|world| {
        let inputs = Inputs::new(target, seed, world)?;
        let judge = |number| {
            let files = inputs.make(number);
            let length = files.iter().map(|(_, bytes)| bytes.len()).sum();
            judge(number, &write(folder, &files), length, &folder.0, world)
        };
        Ok(numbers.clone().map(judge).collect())
    })
}

/// What the valid inputs of a target do.
///
/// # Errors
/// As [`work`].
#[cfg(test)]
pub fn samples_judged(target: Target, folder: &Folder) -> Result<Vec<Line>, String> {
    on_one_rank(|world| {
        let judge = |sample: crate::samples::Sample| {
            let files: Vec<_> = sample.iter().map(|content| (content.name.clone(), content.bytes())).collect();
            judge(0, &write(folder, &files), 1000, &folder.0, world)
        };
        Ok(target.samples(world)?.into_iter().map(judge).collect())
    })
}

/// Runs this on the only rank of a world.
///
/// # Errors
/// There is no device; what `act` says.
pub fn on_one_rank<R: Send>(act: impl Fn(&World) -> Result<R, String> + Sync) -> Result<R, String> {
    let said = zippy::run_with(Config::threads(1), |world| act(world).map_err(Error::program));
    let only = said.map_err(|error| error.to_string())?.into_iter().next();
    only.ok_or_else(|| "a run has no rank".to_string())
}

/// Reads the files of a finding again.
///
/// # Errors
/// What went wrong.
pub fn replay(folder: &Path) -> Result<String, String> {
    let first = folder.join(FIRST);
    let name = std::fs::read_to_string(&first).map_err(|error| format!("{}: {error}", first.display()))?;
    // Reading marks and makes files beside: a finding stays as it was.
    let own = Folder::new();
    let length = copied(folder, &own.0)?;
    let path = own.0.join(name.trim());
    on_one_rank(|world| {
        quiet();
        limit(MOST);
        let Line { secs, bytes, outcome, .. } = judge(0, &path, length, &own.0, world);
        match outcome {
            Outcome::Wrong(what) => Err(format!("{secs:.3} s: {what}")),
            Outcome::Read => Ok(format!("{secs:.3} s, {bytes} bytes held at a time: read")),
            Outcome::Refused => {
                let said = target::read(&path, &own.0, world).err().unwrap_or_default();
                Ok(format!("{secs:.3} s, {bytes} bytes held at a time: {said}"))
            }
        }
    })
}

/// Copies all files below a directory; the bytes of all.
fn copied(from: &Path, to: &Path) -> Result<usize, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    let mut length = 0;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        length += match path.is_dir() {
            true => copied(&path, &target)?,
            false if entry.file_name() == FIRST => 0,
            false => std::fs::copy(&path, &target).map_err(failed)? as usize,
        };
    }
    Ok(length)
}

/// Reads one input.
fn judge(number: u64, path: &Path, length: usize, folder: &Path, world: &World) -> Line {
    let begun = Instant::now();
    let mut outcome = Outcome::Read;
    let bytes = most(|| {
        outcome = match catch_unwind(AssertUnwindSafe(|| target::read(path, folder, world))) {
            Ok(Ok(())) => Outcome::Read,
            Ok(Err(message)) => shown(&message),
            Err(_) => Outcome::Wrong(format!("a panic: {}", PANIC.lock().map_or(String::new(), |text| text.clone()))),
        };
    });
    let secs = begun.elapsed().as_secs_f64();
    if bytes > target::memory(path, length) && !matches!(outcome, Outcome::Wrong(_)) {
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
