use std::fs::{self, File, Metadata};
use std::path::Path;

use crate::FileError;

/// Opens a regular file and returns it with its length. Pipes and devices can block or have no end,
/// and are refused.
///
/// # Errors
/// The file is missing, cannot be opened, or is not regular.
pub fn open_regular(path: &Path) -> Result<(File, u64), FileError> {
    let system = |error| FileError::system(path, "open", &error);
    let regular = |found: &Metadata| {
        if found.is_file() { Ok(()) } else { Err(FileError::request(path, "is not a regular file")) }
    };
    regular(&fs::metadata(path).map_err(system)?)?;
    let file = File::open(path).map_err(system)?;
    // The name can refer to another file since the check.
    let found = file.metadata().map_err(system)?;
    regular(&found)?;
    Ok((file, found.len()))
}
