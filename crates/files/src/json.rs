//! Small JSON files: scenes, transfer functions, camera paths.

use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::FileError;
use crate::regular::open_regular;

/// Maximum size of a file in bytes.
const MOST: u64 = 16 << 20;

/// Reads the JSON object in a file of at most 16 MiB. Errors about other content list the expected
/// `fields`. Local.
///
/// # Errors
/// The file cannot be read, is not regular, is too long, or contains no such object; the error
/// names the file, the byte, the line and the column.
pub fn read<T: DeserializeOwned>(path: impl AsRef<Path>, fields: &str) -> Result<T, FileError> {
    let path = path.as_ref();
    parse(path, &text(path)?, fields)
}

/// Parses the text of the file `path` like [`read`]. Local.
///
/// # Errors
/// As [`read`].
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str, fields: &str) -> Result<T, FileError> {
    let start = text.len() - text.trim_start().len();
    // Serde would accept a list as the fields in order.
    if !text[start..].starts_with('{') {
        return Err(FileError::malformed(path, start as u64, format!("not a JSON object with {fields}")));
    }
    serde_json::from_str(text).map_err(|error| {
        let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        FileError::malformed(path, (before + error.column().saturating_sub(1)) as u64, error.to_string())
    })
}

/// Text of a file of at most 16 MiB. Local.
///
/// # Errors
/// The file cannot be read, is not regular, is too long, or is not UTF-8.
pub fn text(path: &Path) -> Result<String, FileError> {
    let (file, length) = open_regular(path)?;
    let check = |length: u64| match length {
        ..=MOST => Ok(()),
        _ => Err(FileError::request(path, format!("has {length} bytes; at most {MOST} are read"))),
    };
    check(length)?;
    let mut bytes = Vec::new();
    // Some special files are longer than their metadata.
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(|error| FileError::system(path, "read", &error))?;
    check(bytes.len() as u64)?;
    String::from_utf8(bytes)
        .map_err(|error| FileError::malformed(path, error.utf8_error().valid_up_to() as u64, "not text in UTF-8"))
}
