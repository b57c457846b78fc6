//! Data files that a header names.

use std::path::Path;

use zippy_files::quoted;

use crate::IoError;
use crate::head::numbered;
use crate::text::integers;

/// Location of the voxels.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum DataFiles {
    /// After the header.
    #[default]
    Attached,
    /// In one file.
    One(String),
    /// In several files, in order.
    Several(Vec<String>),
}

/// Parsed field "data file".
pub(super) struct Named {
    pub files: DataFiles,
    /// The rest of the header is a list of file names.
    pub listed: bool,
}

impl Named {
    /// Parses the field.
    ///
    /// # Errors
    /// No name; an invalid pattern; files that are no slices or slabs.
    pub(super) fn parse(path: &Path, at: u64, value: &str, dimension: Option<usize>) -> Result<Self, IoError> {
        let words: Vec<&str> = value.split_whitespace().collect();
        let Some(&first) = words.first() else {
            return Err(IoError::malformed(path, at, "field \"data file\" names no file"));
        };
        let pattern = first.contains('%') && words.len() > 1;
        let slices = if pattern { words.get(4) } else { words.get(1) };
        let listed = first == "LIST";
        if listed || pattern {
            check_slices(path, at, slices, dimension)?;
        }
        let files = if listed {
            DataFiles::Several(Vec::new())
        } else if pattern {
            let field = "data file (pattern, first, last, step)";
            let numbers = integers(path, at, field, &words[1..words.len().min(4)].join(" "), 3)?;
            DataFiles::Several(numbered(path, at, first, [numbers[0], numbers[1], numbers[2]])?)
        } else {
            DataFiles::One(value.to_string())
        };
        Ok(Self { files, listed })
    }
}

/// Checks that files contain slices or slabs of the last axis: a stated dimension is the volume's
/// or one less.
fn check_slices(path: &Path, at: u64, stated: Option<&&str>, dimension: Option<usize>) -> Result<(), IoError> {
    let Some(word) = stated else { return Ok(()) };
    let missing = || IoError::malformed(path, at, "field \"data file\" stands before \"dimension\"");
    let dimension = dimension.ok_or_else(missing)?;
    match word.parse::<usize>() {
        Ok(slice) if slice == dimension || slice + 1 == dimension => Ok(()),
        _ => {
            let message =
                format!("files of {} axes for a volume of {dimension}; slices or slabs are read", quoted(word));
            Err(IoError::unsupported(path, at, message))
        }
    }
}
