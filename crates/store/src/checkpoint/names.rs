//! Names in a directory of checkpoints. Entries with other names are never touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::Builder;
use zippy_files::sync_directory;

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const STATE: &str = "state.msgpack";

/// Lock file of the program that saves into a directory.
pub(super) const LOCK: &str = "run.lock";

/// File in a damaged generation that contains the reason.
pub(super) const REFUSED: &str = "refused.txt";

/// Name of a rank's file.
pub(super) fn rank_file_name(rank: usize) -> String {
    format!("rank-{rank:06}.cells")
}

/// A saved step. The number counts the saves, so the generation with the higher number was started
/// later, whatever the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Generation {
    pub number: u64,
    pub step: u64,
}

impl Generation {
    /// Name of its directory.
    pub(super) fn name(self) -> String {
        format!("step-{:012}.{:06}", self.step, self.number)
    }

    /// Parses the name of a generation's directory.
    pub(super) fn named(name: &str) -> Option<Self> {
        let (step, number) = name.strip_prefix("step-")?.split_once('.')?;
        let found = Self { step: step.parse().ok()?, number: number.parse().ok()? };
        (found.name() == name).then_some(found)
    }

    /// Parses the name of a generation that is being removed.
    fn parse_discarded(name: &str) -> Option<Self> {
        let (generation, random) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('-')?;
        let is_random = random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
        Self::named(generation).filter(|_| is_random)
    }

    /// Creates an entry with `make` under a temporary name of this generation that marks it for
    /// removal.
    ///
    /// # Errors
    /// The errors of `make`.
    pub(super) fn temporary(self, parent: &Path, make: impl FnMut(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
        let prefix = format!(".{}-", self.name());
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".tmp").rand_bytes(RANDOM);
        Ok(builder.make_in(parent, make)?.into_temp_path().keep()?)
    }
}

/// Name of the directory in which the generation with a number is written. It contains only the
/// number, so that creating the directory reserves the number.
pub(super) fn draft_name(number: u64) -> String {
    format!(".number-{number:06}.tmp")
}

/// Parses the name of a draft's directory.
pub(super) fn number_of_draft(name: &str) -> Option<u64> {
    let number = name.strip_prefix(".number-")?.strip_suffix(".tmp")?.parse().ok()?;
    (draft_name(number) == name).then_some(number)
}

/// Number in the name of a draft or a generation that is being removed.
fn number_of_temporary(name: &str) -> Option<u64> {
    number_of_draft(name).or_else(|| Generation::parse_discarded(name).map(|generation| generation.number))
}

/// Length of the random part of a temporary name.
const RANDOM: usize = 12;

/// True for the name of a file of a generation.
fn is_generation_file(name: &str) -> bool {
    let rank =
        name.strip_prefix("rank-").and_then(|name| name.strip_suffix(".cells")).and_then(|rank| rank.parse().ok());
    [MANIFEST, STATE, REFUSED].contains(&name) || rank.is_some_and(|rank| rank_file_name(rank) == name)
}

/// Directories in `parent` whose names `parse` accepts, with the parsed values; empty without
/// `parent`.
fn directories<T>(parent: &Path, parse: fn(&str) -> Option<T>) -> io::Result<Vec<(T, PathBuf)>> {
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if let Some(parsed) = entry.file_name().to_str().and_then(parse)
            && entry.file_type()?.is_dir()
        {
            found.push((parsed, entry.path()));
        }
    }
    Ok(found)
}

/// Generations in a directory, latest first; empty if the directory does not exist.
///
/// # Errors
/// An operating system error.
pub(super) fn generations(parent: &Path) -> io::Result<Vec<Generation>> {
    let mut found: Vec<_> = directories(parent, Generation::named)?.into_iter().map(|(found, _)| found).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

/// Drafts and generations that are being removed, with their numbers.
///
/// # Errors
/// An operating system error.
pub(super) fn temporaries(parent: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    directories(parent, number_of_temporary)
}

/// Highest number of a generation or draft in a directory; 0 if there is none.
///
/// # Errors
/// An operating system error.
pub(super) fn last_number(parent: &Path) -> io::Result<u64> {
    let whole = generations(parent)?.into_iter().map(|generation| generation.number);
    let begun = temporaries(parent)?.into_iter().map(|(number, _)| number);
    Ok(whole.chain(begun).max().unwrap_or(0))
}

/// True if a generation with this number has its final name.
///
/// # Errors
/// An operating system error.
pub(super) fn has_number(parent: &Path, number: u64) -> io::Result<bool> {
    Ok(generations(parent)?.into_iter().any(|generation| generation.number == number))
}

/// Files of a generation.
///
/// # Errors
/// The directory contains anything else; an operating system error.
pub(super) fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let file = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(is_generation_file) && !entry.file_type()?.is_dir() {
            Ok(entry.path())
        } else {
            Err(io::Error::other(format!("{:?} in it is no part of a checkpoint", entry.file_name())))
        }
    };
    fs::read_dir(directory)?.map(file).collect()
}

/// Removes a generation's files and directory; removes nothing if the directory contains anything
/// else.
///
/// # Errors
/// As [`files`]; an operating system error.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    files(directory)?.iter().try_for_each(fs::remove_file)?;
    fs::remove_dir(directory)
}

/// Creates a directory and its missing ancestors, and syncs them to the disk.
///
/// # Errors
/// An operating system error.
pub(super) fn create_directories(directory: &Path) -> io::Result<()> {
    let new: Vec<&Path> =
        directory.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::create_dir_all(directory)?;
    let parents = new.into_iter().rev().filter_map(Path::parent);
    parents.map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path }).try_for_each(sync_directory)
}
