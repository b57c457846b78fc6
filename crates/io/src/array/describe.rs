//! [`describe`]: what is in a file.

use std::path::Path;

use super::format::Format;
use super::metadata::Metadata;
use super::source::{read_pvti, read_vti};
use crate::files::Head;
use crate::store::Grid;
use crate::{IoError, npy, nrrd, vti};

/// What is in a file of arrays.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// Its format.
    pub format: Format,
    /// Its arrays: one but in VTI and PVTI, which have any number.
    pub arrays: Vec<ArrayDescription>,
    /// What the file says beside the cells; of VTI and PVTI always for three axes, or for none. Its name is that of the file's
    /// one array, or that of records, where each field is an array of its own.
    pub metadata: Metadata,
}

/// An array in a file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ArrayDescription {
    /// What it is called there.
    pub name: Option<String>,
    /// Cells along each axis, axis 0 fastest. NumPy counts the numbers of a vector as an axis 0; VTK's arrays have three
    /// axes.
    pub shape: Vec<i64>,
    /// The Rust type of a cell, as `f32` or `[f32; 3]`; of records of NumPy what the file says.
    pub element: String,
}

/// What is in a file of a format that the ending of its name says ([`Format`]), without its cells. Local to the calling rank.
///
/// # Errors
/// The file cannot be read, or is none of this format.
pub fn describe(path: impl AsRef<Path>) -> Result<Description, IoError> {
    let path = path.as_ref();
    let format = Format::of(path)?;
    let head = Head::read(path)?;
    let (arrays, metadata) = match format {
        Format::Npy => {
            let (shape, element) = npy::array::describe(&head)?;
            (vec![ArrayDescription { name: None, shape, element }], Metadata::default())
        }
        Format::Nrrd => {
            let (found, metadata) = nrrd::open_with(&head, zippy::extents::MAX_AXES)?;
            let shape = found.grid.shape.to_vec();
            let element = element(&found.grid);
            (vec![ArrayDescription { name: metadata.name.clone(), shape, element }], metadata)
        }
        Format::Vti => from_vti(&head)?,
        Format::Pvti => from_pvti(&head)?,
    };
    Ok(Description { format, arrays, metadata })
}

fn from_vti(head: &Head) -> Result<(Vec<ArrayDescription>, Metadata), IoError> {
    let document = read_vti(head)?;
    let mut metadata = document.frame.metadata();
    document.notes.tell(&head.path, &mut metadata)?;
    let names = document.pieces.first().map_or(&[][..], |piece| &piece.points);
    let array = |array: &vti::document::Array| {
        let found = vti::opened(head, &document, Some(&array.name))?;
        let (shape, element) = (found.grid.shape.to_vec(), element(&found.grid));
        Ok(ArrayDescription { name: Some(array.name.clone()), shape, element })
    };
    let arrays = names.iter().map(array).collect::<Result<Vec<_>, IoError>>()?;
    Ok((arrays.clone(), named(metadata, &arrays)))
}

fn from_pvti(head: &Head) -> Result<(Vec<ArrayDescription>, Metadata), IoError> {
    let index = read_pvti(head)?;
    let mut metadata = index.frame.metadata();
    index.notes.tell(&head.path, &mut metadata)?;
    let array = |array: &vti::index::Array| {
        let grid = index.grid(head, array)?;
        Ok(ArrayDescription { name: Some(array.name.clone()), shape: grid.shape.to_vec(), element: element(&grid) })
    };
    let arrays = index.arrays.iter().map(array).collect::<Result<Vec<_>, IoError>>()?;
    Ok((arrays.clone(), named(metadata, &arrays)))
}

fn named(mut metadata: Metadata, arrays: &[ArrayDescription]) -> Metadata {
    if let (None, [one]) = (&metadata.name, arrays) {
        metadata.name.clone_from(&one.name);
    }
    metadata
}

fn element(grid: &Grid) -> String {
    match grid.components {
        1 => grid.kind.to_string(),
        count => format!("[{}; {count}]", grid.kind),
    }
}
