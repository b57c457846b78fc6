//! Files of a volume: the beginning of the header file, and the data files that it names.

use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use zippy_files::{open_regular, quoted};

use crate::IoError;

const HEADER_LIMIT: u64 = 1 << 20;

const MOST_FILES: i64 = 1 << 16;

/// Maximum bytes of all names of numbered files: a short header could define long ones.
const MOST_NAMES: u64 = 16 << 20;

/// Beginning of a file.
pub struct Head {
    pub path: PathBuf,
    /// The whole of a short file, else the maximum length of a header.
    pub bytes: Vec<u8>,
    pub length: u64,
}

impl Head {
    /// Reads the beginning of `path`, a regular file.
    pub fn read(path: &Path) -> Result<Self, IoError> {
        let (file, length) = open_regular(path)?;
        let mut bytes = Vec::with_capacity(length.min(HEADER_LIMIT) as usize);
        let read = file.take(HEADER_LIMIT).read_to_end(&mut bytes);
        read.map_err(|error| IoError::system(path, "read", &error))?;
        Ok(Self { path: path.to_path_buf(), bytes, length })
    }

    /// Hash of the beginning and the length, for comparison between ranks.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.length, &self.bytes).hash(&mut hasher);
        hasher.finish()
    }

    /// True if `bytes` is the whole file.
    pub fn complete(&self) -> bool {
        self.bytes.len() as u64 == self.length
    }
}

/// Path of a file that the header in `path` names; relative names are relative to the header's
/// directory.
pub(crate) fn named_path(path: &Path, name: &str) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(name)
}

/// Files that an index has named, to reject duplicates: a short index could otherwise read one file
/// many times by several spellings or links.
#[derive(Default)]
pub(crate) struct NamedFiles(HashSet<FileIdentity>);

/// Device and inode, or the canonical path on systems without them.
#[cfg(unix)]
type FileIdentity = (u64, u64);
#[cfg(not(unix))]
type FileIdentity = PathBuf;

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<FileIdentity> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<FileIdentity> {
    fs::canonicalize(path)
}

impl NamedFiles {
    /// Adds the file `name`, which the index `path` names at byte `at`; a duplicate is an error.
    pub(crate) fn add(&mut self, path: &Path, at: u64, name: &str) -> Result<(), IoError> {
        let file = named_path(path, name);
        let found =
            identity(&file).map_err(|error| error_in_named_file(path, at, &IoError::system(&file, "open", &error)))?;
        if self.0.insert(found) {
            Ok(())
        } else {
            Err(IoError::malformed(path, at, format!("the piece {} is named twice", quoted(name))))
        }
    }
}

pub(crate) fn error_in_named_file(path: &Path, at: u64, error: &IoError) -> IoError {
    IoError::malformed(path, at, format!("the file that goes with it, {error}"))
}

/// File names from a pattern with one `%d` in C's printf syntax, for `first`, `first + step`, up to
/// `last`.
pub(crate) fn numbered_names(
    path: &Path,
    at: u64,
    pattern: &str,
    [first, last, step]: [i64; 3],
) -> Result<Vec<String>, IoError> {
    let bad = |message: String| IoError::malformed(path, at, message);
    let conversion = || bad(format!("{} must hold one %d (a width such as %03d is fine)", quoted(pattern)));
    let (prefix, rest) = pattern.split_once('%').ok_or_else(conversion)?;
    let (width, suffix) = rest.split_once(['d', 'i', 'u']).ok_or_else(conversion)?;
    let plain = width.len() <= 3 && width.bytes().all(|byte| byte.is_ascii_digit()) && !suffix.contains('%');
    if !plain {
        return Err(conversion());
    }
    let (zeros, width) = (width.starts_with('0'), width.parse().unwrap_or(0_usize));
    let span = i128::from(last) - i128::from(first);
    let steps = if step == 0 { -1 } else { span / i128::from(step) };
    if !(0..i128::from(MOST_FILES)).contains(&steps) {
        let message = format!("numbers from {first} to {last} by {step}; 1 to {MOST_FILES} files are read");
        return Err(bad(message));
    }
    let (files, longest) = (steps as u64 + 1, pattern.len().max(width) as u64);
    if files.saturating_mul(longest) > MOST_NAMES {
        let message = format!("{files} file names of {longest} bytes; at most {MOST_NAMES} bytes of names are read");
        return Err(bad(message));
    }
    let name = |number: i128| {
        let number = i128::from(first) + number * i128::from(step);
        let number = if zeros { format!("{number:0width$}") } else { format!("{number:width$}") };
        format!("{prefix}{number}{suffix}")
    };
    Ok((0..=steps).map(name).collect())
}
