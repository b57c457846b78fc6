//! [`Generation`]: detects that an open store is replaced.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use zippy_files::FileError;

use super::node;

/// File metadata of the root document of a store.
pub(super) struct StoreIdentity {
    path: PathBuf,
    document: Option<DocumentIdentity>,
}

#[derive(PartialEq)]
struct DocumentIdentity {
    length: u64,
    changed: Option<SystemTime>,
    inode: Option<(u64, u64)>,
}

impl StoreIdentity {
    /// Identity of the store at `path`; to be called before any read.
    pub(super) fn of_store(path: &Path) -> Self {
        Self { path: path.to_path_buf(), document: document_identity(path) }
    }

    /// Detects a replaced or removed store, whose missing files would read as fill values.
    pub(super) fn check(&self) -> Result<(), FileError> {
        if self.document.is_some() && document_identity(&self.path) == self.document {
            Ok(())
        } else {
            Err(FileError::request(&self.path, "was replaced or removed while it was read; load it again"))
        }
    }
}

fn document_identity(path: &Path) -> Option<DocumentIdentity> {
    let found = fs::metadata(node::document(path)?).ok()?;
    Some(DocumentIdentity { length: found.len(), changed: found.modified().ok(), inode: inode(&found) })
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
