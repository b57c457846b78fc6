//! Text of the header of a NumPy file.

use std::path::Path;

use super::dictionary::{Dictionary, Value};
use crate::IoError;
use crate::head::Head;
use crate::voxels::Stated;

pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// True if the first axis is the fastest in the file.
pub(super) fn is_fortran(path: &Path, found: &Dictionary<'_>) -> Result<bool, IoError> {
    match found.get("fortran_order")? {
        Stated { value: Value::Bool(value), .. } => Ok(*value),
        other => Err(IoError::malformed(path, other.at, "fortran_order must be True or False")),
    }
}

/// Dictionary of the header, and its offset.
pub(super) fn header_text(head: &Head) -> Result<(u64, &[u8]), IoError> {
    let (path, bytes) = (&head.path, &head.bytes);
    let cut = || IoError::malformed(path, bytes.len() as u64, "the file ends inside the header");
    let version = *bytes.get(MAGIC.len()).ok_or_else(cut)?;
    let field = |width: usize| bytes.get(8..8 + width).ok_or_else(cut);
    let (start, length): (usize, usize) = match version {
        1 => (10, field(2)?.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte))),
        2 | 3 => (12, field(4)?.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte))),
        _ => {
            let message = format!("version {version} of the NumPy format; 1 to 3 are read");
            return Err(IoError::unsupported(path, MAGIC.len() as u64, message));
        }
    };
    match bytes.get(start..start.saturating_add(length)) {
        Some(text) => Ok((start as u64, text)),
        None if head.complete() => Err(cut()),
        None => Err(IoError::malformed(path, 8, format!("a header of {length} bytes; at most 1048564 are read"))),
    }
}
