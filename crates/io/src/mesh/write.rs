//! [`write`](write()): a whole mesh by one rank.

use std::path::Path;

use zippy_files::PendingFile;

use super::{Before, Format, Layout, Part, Text, Whole};
use crate::IoError;

/// Writes a whole mesh of one rank, atomically ([`write_whole`](zippy_files::write_whole)). The
/// extension selects the format. The bytes equal those that several ranks write together. Local.
///
/// # Errors
/// As [`Format::of`], [`Layout::of`] and [`Layout::blocks`]; the file cannot be written.
pub fn write(path: impl AsRef<Path>, part: &Part<'_>) -> Result<(), IoError> {
    let path = path.as_ref();
    write_as(path, Format::of(path)?, part)
}

pub(super) fn write_as(path: &Path, format: Format, part: &Part<'_>) -> Result<(), IoError> {
    let text = if format == Format::Obj { Text::of(part) } else { Ok(Text::default()) };
    let text = text.map_err(|error| with_path(path, error))?;
    let whole = Whole { text, ..part.alone() };
    let names: Vec<&str> = part.fields.iter().map(|field| field.name).collect();
    let layout = Layout::of(format, &whole, part.normals.is_some(), &names).map_err(|error| with_path(path, error))?;
    let blocks = layout.blocks(part, &Before::default()).map_err(|error| with_path(path, error))?;
    let pending = PendingFile::create(path)?;
    for (at, bytes) in layout.frame() {
        pending.rewrite(at, bytes)?;
    }
    for (at, bytes) in blocks {
        pending.rewrite(at, &bytes)?;
    }
    Ok(pending.commit()?)
}

pub(super) fn with_path(path: &Path, error: IoError) -> IoError {
    match error {
        IoError::Mesh { message } => IoError::request(path, message),
        other => other,
    }
}
