//! Worker process: prints a line with the outcome of each input.

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

/// File in the directory of a finding that contains the name of the input's first file.
pub(crate) const FIRST: &str = "first";

const MAX_MEMORY: isize = 1 << 30;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Outcome {
    Read,
    Refused,
    /// Description of a defect.
    Wrong(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub number: u64,
    pub secs: f64,
    /// Peak memory, in bytes.
    pub bytes: u64,
    pub outcome: Outcome,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, secs, bytes, outcome } = self;
        match outcome {
            Outcome::Read => write!(f, "{number} {secs} {bytes} read"),
            Outcome::Refused => write!(f, "{number} {secs} {bytes} refused"),
            Outcome::Wrong(problem) => write!(f, "{number} {secs} {bytes} wrong {}", problem.escape_debug()),
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

/// Reads the inputs `first`, `first + step`, `first + 2 * step`, … until the process is killed or
/// standard output is closed.
pub(crate) fn work(target: Target, seed: u64, first: u64, step: u16, folder: &Folder) -> Result<(), String> {
    on_one_rank(|world| {
        let inputs = Inputs::new(target, seed, world)?;
        record_panics();
        limit(MAX_MEMORY);
        let mut out = std::io::stdout().lock();
        for number in (first..).step_by(step.into()) {
            let files = inputs.make(number);
            let length = files.iter().map(|(_, bytes)| bytes.len()).sum();
            let path = write(folder, &files);
            drop(files);
            if writeln!(out, "{}", read_input(number, &path, length, &folder.0, world))
                .and_then(|()| out.flush())
                .is_err()
            {
                break;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
pub(crate) fn read_inputs(
    target: Target,
    seed: u64,
    numbers: std::ops::Range<u64>,
    folder: &Folder,
) -> Result<Vec<Line>, String> {
    on_one_rank(|world| {
        let inputs = Inputs::new(target, seed, world)?;
        let read = |number| {
            let files = inputs.make(number);
            let length = files.iter().map(|(_, bytes)| bytes.len()).sum();
            read_input(number, &write(folder, &files), length, &folder.0, world)
        };
        Ok(numbers.clone().map(read).collect())
    })
}

#[cfg(test)]
pub(crate) fn read_samples(target: Target, folder: &Folder) -> Result<Vec<Line>, String> {
    on_one_rank(|world| {
        let read = |sample: crate::samples::Sample| {
            let files: Vec<_> = sample.iter().map(|file| (file.name.clone(), file.bytes())).collect();
            read_input(0, &write(folder, &files), 1000, &folder.0, world)
        };
        Ok(target.samples(world)?.into_iter().map(read).collect())
    })
}

pub(crate) fn on_one_rank<R: Send>(act: impl Fn(&World) -> Result<R, String> + Sync) -> Result<R, String> {
    let results = zippy::run_with(Config::threads(1), |world| act(world).map_err(Error::program));
    let result = results.map_err(|error| error.to_string())?.into_iter().next();
    result.ok_or_else(|| "a run has no rank".to_string())
}

/// Reads the files of a finding again. The files stay unchanged.
pub(crate) fn replay(folder: &Path) -> Result<String, String> {
    let first = folder.join(FIRST);
    let name = std::fs::read_to_string(&first).map_err(|error| format!("{}: {error}", first.display()))?;
    // Some readers write files next to the input.
    let copy = Folder::new();
    let length = copy_files(folder, &copy.0)?;
    let path = copy.0.join(name.trim());
    on_one_rank(|world| {
        record_panics();
        limit(MAX_MEMORY);
        let Line { secs, bytes, outcome, .. } = read_input(0, &path, length, &copy.0, world);
        match outcome {
            Outcome::Wrong(problem) => Err(format!("{secs:.3} s: {problem}")),
            Outcome::Read => Ok(format!("{secs:.3} s, peak memory {bytes} bytes: read")),
            Outcome::Refused => {
                let message = target::read(&path, &copy.0, world).err().unwrap_or_default();
                Ok(format!("{secs:.3} s, peak memory {bytes} bytes: {message}"))
            }
        }
    })
}

/// Copies all files except [`FIRST`]. Returns the total number of bytes.
fn copy_files(from: &Path, to: &Path) -> Result<usize, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    let mut length = 0;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        length += if path.is_dir() {
            copy_files(&path, &target)?
        } else if entry.file_name() == FIRST {
            0
        } else {
            std::fs::copy(&path, &target).map_err(failed)? as usize
        };
    }
    Ok(length)
}

fn read_input(number: u64, path: &Path, length: usize, folder: &Path, world: &World) -> Line {
    let start = Instant::now();
    let mut outcome = Outcome::Read;
    let bytes = most(|| {
        outcome = match catch_unwind(AssertUnwindSafe(|| target::read(path, folder, world))) {
            Ok(Ok(())) => Outcome::Read,
            Ok(Err(message)) => check_message(&message),
            Err(_) => Outcome::Wrong(format!("a panic: {}", PANIC.lock().map_or(String::new(), |text| text.clone()))),
        };
    });
    let secs = start.elapsed().as_secs_f64();
    if bytes > target::max_memory(path, length) && !matches!(outcome, Outcome::Wrong(_)) {
        outcome = Outcome::Wrong(format!("peak memory {bytes} bytes for an input of {length} bytes"));
    }
    Line { number, secs, bytes: bytes.max(0) as u64, outcome }
}

/// A message is a defect if it is too long or has control characters.
fn check_message(message: &str) -> Outcome {
    let is_control = |letter: char| letter.is_control() || letter == '\u{202e}';
    if message.chars().count() < 1000 && !message.contains(is_control) {
        Outcome::Refused
    } else {
        Outcome::Wrong(format!("an error message that is too long or has control characters: {message}"))
    }
}

static PANIC: Mutex<String> = Mutex::new(String::new());

/// Stores messages of panics in [`PANIC`] instead of printing them.
fn record_panics() {
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
    fn line_is_parsed_as_it_was_printed() {
        for outcome in [Outcome::Read, Outcome::Refused, Outcome::Wrong("a panic: at a.rs:7".into())] {
            let line = Line { number: 7, secs: 0.125, bytes: 99, outcome };
            assert_eq!(line.to_string().parse(), Ok(line));
        }
        let broken = Line { number: 7, secs: 0.5, bytes: 9, outcome: Outcome::Wrong("two\nlines".into()) };
        assert_eq!(broken.to_string(), "7 0.5 9 wrong two\\nlines");
        assert_eq!("7 0.5".parse::<Line>(), Err(()));
    }

    #[test]
    fn long_message_or_control_character_is_wrong() {
        assert_eq!(check_message("a.nrrd, byte 3: no"), Outcome::Refused);
        assert!(matches!(check_message("a\x1b[2Jb"), Outcome::Wrong(_)));
        assert!(matches!(check_message(&"x".repeat(1000)), Outcome::Wrong(_)));
    }
}
