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

/// File with the reason in a damaged generation.
pub(super) const REFUSED: &str = "refused.txt";

pub(super) fn rank_file_name(rank: usize) -> String {
    format!("rank-{rank:06}.cells")
}

/// A saved step. The save number grows with each save, whatever the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Generation {
    pub number: u64,
    pub step: u64,
}

impl Generation {
    pub(super) fn name(self) -> String {
        format!("step-{:012}.{:06}", self.step, self.number)
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        let (step, number) = name.strip_prefix("step-")?.split_once('.')?;
        let found = Self { step: step.parse().ok()?, number: number.parse().ok()? };
        (found.name() == name).then_some(found)
    }

    fn parse_discarded(name: &str) -> Option<Self> {
        let (generation, random) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('-')?;
        let is_random = random.len() == RANDOM_LENGTH && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
        Self::parse(generation).filter(|_| is_random)
    }

    /// Creates an entry with `make` under a temporary name that marks this generation for removal.
    pub(super) fn temporary(self, parent: &Path, make: impl FnMut(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
        let prefix = format!(".{}-", self.name());
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".tmp").rand_bytes(RANDOM_LENGTH);
        Ok(builder.make_in(parent, make)?.into_temp_path().keep()?)
    }
}

/// Directory name of a draft: only the number, so that creating the directory reserves the number.
pub(super) fn draft_name(number: u64) -> String {
    format!(".number-{number:06}.tmp")
}

pub(super) fn parse_draft(name: &str) -> Option<u64> {
    let number = name.strip_prefix(".number-")?.strip_suffix(".tmp")?.parse().ok()?;
    (draft_name(number) == name).then_some(number)
}

fn parse_temporary(name: &str) -> Option<u64> {
    parse_draft(name).or_else(|| Generation::parse_discarded(name).map(|generation| generation.number))
}

const RANDOM_LENGTH: usize = 12;

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
pub(super) fn generations(parent: &Path) -> io::Result<Vec<Generation>> {
    let mut found: Vec<_> = directories(parent, Generation::parse)?.into_iter().map(|(found, _)| found).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

/// Drafts and discarded generations, with their numbers.
pub(super) fn temporaries(parent: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    directories(parent, parse_temporary)
}

/// Highest number of a generation or draft in a directory; 0 if there is none.
pub(super) fn last_number(parent: &Path) -> io::Result<u64> {
    let whole = generations(parent)?.into_iter().map(|generation| generation.number);
    let unfinished = temporaries(parent)?.into_iter().map(|(number, _)| number);
    Ok(whole.chain(unfinished).max().unwrap_or(0))
}

pub(super) fn has_number(parent: &Path, number: u64) -> io::Result<bool> {
    Ok(generations(parent)?.into_iter().any(|generation| generation.number == number))
}

/// Files of a generation; an error if the directory contains anything else.
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

/// Removes nothing if the directory contains anything else than files of a generation.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    files(directory)?.iter().try_for_each(fs::remove_file)?;
    fs::remove_dir(directory)
}

/// Syncs the new directories to the disk.
pub(super) fn create_directories(directory: &Path) -> io::Result<()> {
    let new: Vec<&Path> =
        directory.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::create_dir_all(directory)?;
    let parents = new.into_iter().rev().filter_map(Path::parent);
    parents.map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path }).try_for_each(sync_directory)
}
