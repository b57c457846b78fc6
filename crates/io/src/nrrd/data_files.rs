//! Data files that a header names.

use std::path::Path;

use zippy_files::quoted;

use crate::IoError;
use crate::head::numbered_names;
use crate::text::integers;

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

pub(super) struct DataFileField {
    pub files: DataFiles,
    /// True if the rest of the header is a list of file names.
    pub is_list: bool,
}

impl DataFileField {
    pub(super) fn parse(path: &Path, at: u64, value: &str, dimension: Option<usize>) -> Result<Self, IoError> {
        let words: Vec<&str> = value.split_whitespace().collect();
        let Some(&first) = words.first() else {
            return Err(IoError::malformed(path, at, "field \"data file\" names no file"));
        };
        let pattern = first.contains('%') && words.len() > 1;
        let slices = if pattern { words.get(4) } else { words.get(1) };
        let is_list = first == "LIST";
        if is_list || pattern {
            check_slices(path, at, slices, dimension)?;
        }
        let files = if is_list {
            DataFiles::Several(Vec::new())
        } else if pattern {
            let field = "data file (pattern, first, last, step)";
            let numbers = integers(path, at, field, &words[1..words.len().min(4)].join(" "), 3)?;
            DataFiles::Several(numbered_names(path, at, first, [numbers[0], numbers[1], numbers[2]])?)
        } else {
            DataFiles::One(value.to_string())
        };
        Ok(Self { files, is_list })
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
