//! [`Generation`]: which store has been opened, where one takes the place of another.

use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::node;
use crate::IoError;
use crate::files::Head;

/// What tells a store from the one that takes its place: its root document.
pub struct Generation {
    path: PathBuf,
    seen: Option<Seen>,
}

/// A file as this rank sees it.
#[derive(PartialEq)]
struct Seen {
    length: u64,
    changed: Option<SystemTime>,
    /// Device and number.
    place: Option<(u64, u64)>,
}

impl Generation {
    /// That of the store of a path, before anything of it is read.
    pub fn now(path: &Path) -> Self {
        Self { path: path.to_path_buf(), seen: seen(path) }
    }

    /// Whether the store is still the one it was. A file that is missing means cells of the fill value, and so a store that
    /// has gone would read as such.
    ///
    /// # Errors
    /// It is another one, or has gone.
    pub fn check(&self) -> Result<(), IoError> {
        match self.seen.is_some() && seen(&self.path) == self.seen {
            true => Ok(()),
            false => Err(IoError::request(&self.path, "was replaced or removed while it was read; load it again")),
        }
    }
}

fn seen(path: &Path) -> Option<Seen> {
    let found = fs::metadata(node::document(path)?).ok()?;
    Some(Seen { length: found.len(), changed: found.modified().ok(), place: place(&found) })
}

#[cfg(unix)]
fn place(found: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn place(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// What the documents of directories say, as a number: the same on ranks that see the same documents.
///
/// # Errors
/// One of them cannot be read.
pub fn fingerprint<'a>(directories: impl Iterator<Item = &'a Path>) -> Result<u64, IoError> {
    let mut hasher = DefaultHasher::new();
    for directory in directories {
        if let Some(file) = node::document(directory) {
            Head::read(&file)?.fingerprint().hash(&mut hasher);
        }
    }
    Ok(hasher.finish())
}
