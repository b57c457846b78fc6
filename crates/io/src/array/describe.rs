//! [`describe`]: what is in a file.

use std::path::Path;

use super::format::Format;
use super::metadata::Metadata;
use super::source::{read_pvti, read_vti};
#[cfg(feature = "zarr")]
use super::zarr;
use crate::files::Head;
use crate::vti::frame::Frame;
use crate::{IoError, npy, nrrd, vti};

/// What is in a file of arrays.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// Its format.
    pub format: Format,
    /// Its arrays: one but in VTI, PVTI and Zarr, which have any number.
    pub arrays: Vec<ArrayDescription>,
    /// What the file says beside the cells; of VTI and PVTI always for three axes, or for none; of Zarr what
    /// comes with the array that is loaded where none is named, and nothing where one must be named. Its name is that of the file's
    /// one array, or that of records, where each field is an array of its own.
    pub metadata: Metadata,
}

/// An array in a file.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ArrayDescription {
    /// What it is called there, in a Zarr store as "density" or "levels/1/density", or "" where the store is one array.
    pub name: Option<String>,
    /// Cells along each axis, axis 0 fastest. NumPy and Zarr count the numbers of a vector as an axis 0; VTK's arrays have
    /// three axes.
    pub shape: Vec<i64>,
    /// The Rust type of a cell, as `f32` or `[f32; 3]`; of records of NumPy, and of types that are not read,
    /// what the file says.
    pub element: String,
    /// Of Zarr the extents of what is in a file of its own, a chunk or a shard, axis 0 first; empty of other formats, and of a
    /// grid that is not regular.
    pub chunk: Vec<i64>,
    /// Of Zarr the codecs in the order of encoding, those within shards behind that of the shards; of other formats none.
    pub codecs: Vec<String>,
    /// Of Zarr why the document of this array cannot be read, where it cannot: all else but the name is empty then.
    pub error: Option<IoError>,
}

/// What is in a file of a format that the ending of its name says ([`Format`]), without its cells. Local to the calling rank.
///
/// # Errors
/// The file cannot be read, or is none of this format.
pub fn describe(path: impl AsRef<Path>) -> Result<Description, IoError> {
    let path = path.as_ref();
    let format = Format::of(path)?;
    #[cfg(feature = "zarr")]
    if format == Format::Zarr {
        return zarr::describe(path);
    }
    let head = Head::read(path)?;
    let (arrays, metadata) = match format {
        Format::Npy => {
            let (shape, element) = npy::array::describe(&head)?;
            (vec![ArrayDescription { shape, element, ..ArrayDescription::default() }], Metadata::default())
        }
        Format::Nrrd => {
            let (found, metadata) = nrrd::open_with(&head, zippy::extents::MAX_AXES)?;
            let shape = found.grid.shape.to_vec();
            let element = vector(found.grid.kind.name(), found.grid.components as i64);
            let name = metadata.name.clone();
            (vec![ArrayDescription { name, shape, element, ..ArrayDescription::default() }], metadata)
        }
        Format::Zarr => return Err(IoError::request(path, "is the name of a Zarr store, which is a directory")),
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
        told(head, &document.frame, (&array.name, array.at, &array.kind), array.components.value)
    };
    let arrays: Vec<ArrayDescription> = names.iter().map(array).collect();
    Ok((arrays.clone(), named(metadata, &arrays)))
}

fn from_pvti(head: &Head) -> Result<(Vec<ArrayDescription>, Metadata), IoError> {
    let index = read_pvti(head)?;
    let mut metadata = index.frame.metadata();
    index.notes.tell(&head.path, &mut metadata)?;
    let array = |array: &vti::index::Array| {
        told(head, &index.frame, (&array.name, array.at, &array.kind), array.components.value)
    };
    let arrays: Vec<ArrayDescription> = index.arrays.iter().map(array).collect();
    Ok((arrays.clone(), named(metadata, &arrays)))
}

/// An array of VTK's. Of a type that is not read this is what the file says.
fn told(head: &Head, frame: &Frame, (name, at, kind): (&str, u64, &str), components: i64) -> ArrayDescription {
    let number = vti::kind(head, at, kind).map_or_else(|_| kind.to_string(), |kind| kind.to_string());
    let (shape, element) = (frame.sizes().value, vector(&number, components));
    ArrayDescription { name: Some(name.into()), shape, element, ..ArrayDescription::default() }
}

fn named(mut metadata: Metadata, arrays: &[ArrayDescription]) -> Metadata {
    if let (None, [one]) = (&metadata.name, arrays) {
        metadata.name.clone_from(&one.name);
    }
    metadata
}

/// The type of a cell with so many numbers.
fn vector(number: &str, count: i64) -> String {
    if count == 1 { number.into() } else { format!("[{number}; {count}]") }
}
