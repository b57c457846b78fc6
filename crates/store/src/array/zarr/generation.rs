//! [`Generation`]: detection of a store that is replaced while it is open.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use zippy_files::FileError;

use super::node;

/// Identity of a store: metadata of its root document.
pub(super) struct Generation {
    path: PathBuf,
    root: Option<RootDocument>,
}

/// Metadata of a root document as this rank sees it.
#[derive(PartialEq)]
struct RootDocument {
    length: u64,
    changed: Option<SystemTime>,
    /// Device and inode.
    inode: Option<(u64, u64)>,
}

impl Generation {
    /// Identity of the store at `path`; taken before anything of the store is read.
    pub(super) fn now(path: &Path) -> Self {
        Self { path: path.to_path_buf(), root: root_document(path) }
    }

    /// Checks that the store has not been replaced. Without the check, a removed store would read
    /// as fill values, because missing files mean that.
    ///
    /// # Errors
    /// The store has been replaced or removed.
    pub(super) fn check(&self) -> Result<(), FileError> {
        if self.root.is_some() && root_document(&self.path) == self.root {
            Ok(())
        } else {
            Err(FileError::request(&self.path, "was replaced or removed while it was read; load it again"))
        }
    }
}

fn root_document(path: &Path) -> Option<RootDocument> {
    let found = fs::metadata(node::document(path)?).ok()?;
    Some(RootDocument { length: found.len(), changed: found.modified().ok(), inode: inode(&found) })
}

#[cfg(unix)]
fn inode(found: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> Option<(u64, u64)> {
    None
}
