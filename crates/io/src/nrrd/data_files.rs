//! The files that a header names.

use std::path::Path;

use crate::files::numbered;
use crate::text::integers;
use crate::{IoError, quoted};

/// Where the voxels are.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum DataFiles {
    /// Behind the header.
    #[default]
    Attached,
    /// In a file.
    One(String),
    /// In several, in order.
    Several(Vec<String>),
}

/// What the field "data file" says.
pub struct Named {
    pub files: DataFiles,
    /// The names of the files are the rest of the header.
    pub listed: bool,
}

impl Named {
    /// # Errors
    /// No name; a pattern that is none; files that are no slices or slabs.
    pub fn parse(path: &Path, at: u64, value: &str, dimension: Option<usize>) -> Result<Self, IoError> {
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

/// Files must hold slices or slabs of the last axis: a stated dimension is that of the volume or one less.
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
