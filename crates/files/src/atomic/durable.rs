//! Durable names: a renamed file survives a power failure only after a sync of its directory.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::FileError;

/// Waits until the entries of a directory are on the disk, if the system supports it.
///
/// # Errors
/// An operating system error.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    match File::open(directory)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Waits until the directory entry of `target` is on the disk; errors name `path`.
///
/// # Errors
/// An operating system error. The new file stays.
pub fn sync_entry(path: &Path, target: &Path) -> Result<(), FileError> {
    let synced = sync_directory(directory(target));
    synced.map_err(|error| {
        let message = format!("the new file has its name, but may be lost after a power failure: {error}");
        FileError::request(path, message)
    })
}

pub(super) fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
