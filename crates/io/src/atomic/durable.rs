//! Names on the disk: a file that has been renamed is found after a power failure only when its directory is there, too.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::IoError;

/// Waits until the names in a directory are on the disk, where the system can be asked to.
///
/// # Errors
/// What the operating system said.
pub fn sync_directory(directory: &Path) -> io::Result<()> {
    // Windows opens no directories.
    if cfg!(windows) {
        return Ok(());
    }
    match File::open(directory)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

/// Waits until the name of what has been put at `target` is on the disk; `path` is what errors name.
///
/// # Errors
/// What the operating system said. What has been put there stays.
pub fn sync_entry(path: &Path, target: &Path) -> Result<(), IoError> {
    let synced = sync_directory(directory(target));
    synced.map_err(|error| {
        let message = format!("the new one is in its place, but after a power failure it may be gone: {error}");
        IoError::request(path, message)
    })
}

/// The directory that a file is in.
pub fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
