//! Names in a directory of checkpoints: only what has them is ever touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::Builder;

use crate::atomic::sync_directory;

pub const MANIFEST: &str = "manifest.json";
pub const STATE: &str = "state.msgpack";

/// The file of the program that saves into a directory.
pub const LOCK: &str = "run.lock";

/// In a generation that was found not to be whole: what is wrong with it.
pub const REFUSED: &str = "refused.txt";

/// The file that a rank writes.
pub fn of_rank(rank: usize) -> String {
    format!("rank-{rank:06}.cells")
}

/// A saved step. Of two generations the one with the higher number was started later, whatever their steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Generation {
    pub number: u64,
    pub step: u64,
}

impl Generation {
    /// The name of its directory.
    pub fn name(self) -> String {
        format!("step-{:012}.{:06}", self.step, self.number)
    }

    /// The generation whose directory has this name.
    pub fn named(name: &str) -> Option<Self> {
        let (step, number) = name.strip_prefix("step-")?.split_once('.')?;
        let found = Self { step: step.parse().ok()?, number: number.parse().ok()? };
        (found.name() == name).then_some(found)
    }

    /// The generation that a directory of this name is no longer: it is being removed.
    fn of_discarded(name: &str) -> Option<Self> {
        let (generation, random) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('-')?;
        let is_random = random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
        Self::named(generation).filter(|_| is_random)
    }

    /// What `make` makes under a temporary name of this generation, which is to be removed.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn temporary(self, parent: &Path, make: impl FnMut(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
        let prefix = format!(".{}-", self.name());
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".tmp").rand_bytes(RANDOM);
        Ok(builder.make_in(parent, make)?.into_temp_path().keep()?)
    }
}

/// The name of the directory in which the generation of a number is written: nothing but the number, so that whoever makes
/// it has the number.
pub fn of_draft(number: u64) -> String {
    format!(".number-{number:06}.tmp")
}

/// The number of the generation that is written in a directory of this name.
pub fn number_of_draft(name: &str) -> Option<u64> {
    let number = name.strip_prefix(".number-")?.strip_suffix(".tmp")?.parse().ok()?;
    (of_draft(number) == name).then_some(number)
}

/// The number of what is not whole yet, or no longer.
fn number_of_temporary(name: &str) -> Option<u64> {
    number_of_draft(name).or_else(|| Generation::of_discarded(name).map(|generation| generation.number))
}

/// Random letters of a temporary name.
const RANDOM: usize = 12;

/// Whether a file of a generation has this name.
fn is_ours(name: &str) -> bool {
    let rank =
        name.strip_prefix("rank-").and_then(|name| name.strip_suffix(".cells")).and_then(|rank| rank.parse().ok());
    [MANIFEST, STATE, REFUSED].contains(&name) || rank.is_some_and(|rank| of_rank(rank) == name)
}

/// The directories in `parent` whose names `parse` knows, with what it makes of them; none where there is no `parent`.
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

/// The generations in a directory, the latest first; none where there is no such directory.
///
/// # Errors
/// What the operating system said.
pub fn generations(parent: &Path) -> io::Result<Vec<Generation>> {
    let mut found: Vec<_> = directories(parent, Generation::named)?.into_iter().map(|(found, _)| found).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    Ok(found)
}

/// What was begun in a directory and is not in its place, or was to be removed, with the numbers.
///
/// # Errors
/// What the operating system said.
pub fn temporaries(parent: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    directories(parent, number_of_temporary)
}

/// The highest number in a directory, of what is whole or not; 0 where there is none.
///
/// # Errors
/// What the operating system said.
pub fn last_number(parent: &Path) -> io::Result<u64> {
    let whole = generations(parent)?.into_iter().map(|generation| generation.number);
    let begun = temporaries(parent)?.into_iter().map(|(number, _)| number);
    Ok(whole.chain(begun).max().unwrap_or(0))
}

/// Whether a generation of a number is in its place.
///
/// # Errors
/// What the operating system said.
pub fn has_number(parent: &Path, number: u64) -> io::Result<bool> {
    Ok(generations(parent)?.into_iter().any(|generation| generation.number == number))
}

/// The files of a generation.
///
/// # Errors
/// There is anything else in its directory; what the operating system said.
pub fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let file = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        match entry.file_name().to_str().is_some_and(is_ours) && !entry.file_type()?.is_dir() {
            true => Ok(entry.path()),
            false => Err(io::Error::other(format!("{:?} in it is no part of a checkpoint", entry.file_name()))),
        }
    };
    fs::read_dir(directory)?.map(file).collect()
}

/// Removes the files of a generation and their directory; where there is anything else in it, nothing.
///
/// # Errors
/// As [`files`]; what the operating system said.
pub fn remove(directory: &Path) -> io::Result<()> {
    files(directory)?.iter().try_for_each(fs::remove_file)?;
    fs::remove_dir(directory)
}

/// Makes a directory and those that it lies in, on the disk, where they are not there yet.
///
/// # Errors
/// What the operating system said.
pub fn create_directories(directory: &Path) -> io::Result<()> {
    let new: Vec<&Path> =
        directory.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    fs::create_dir_all(directory)?;
    let parents = new.into_iter().rev().filter_map(Path::parent);
    parents.map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path }).try_for_each(sync_directory)
}
