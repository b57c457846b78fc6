//! [`describe_header`]: a summary of a file.

use std::path::Path;

use super::description::{ArrayDescription, Description};
use super::format::Format;
use super::metadata::Metadata;
use super::source::{read_pvti, read_vti};
use crate::head::Head;
use crate::vti::frame::Frame;
use crate::{IoError, npy, nrrd, vti};

/// Describes a file without reading its cells; not for Zarr stores. The file's extension selects
/// the format ([`Format`]). Local.
///
/// # Errors
/// The file cannot be read, has another format, or is the name of a Zarr store.
pub fn describe_header(path: impl AsRef<Path>) -> Result<Description, IoError> {
    let path = path.as_ref();
    let format = Format::of(path)?;
    let head = Head::read(path)?;
    let (arrays, metadata) = match format {
        Format::Npy => {
            let (shape, element) = npy::array::describe(&head)?;
            (vec![ArrayDescription { shape, element, ..ArrayDescription::default() }], Metadata::default())
        }
        Format::Nrrd => {
            let (found, metadata) = nrrd::open_with(&head, zippy_plan::extents::MAX_AXES)?;
            let shape = found.grid.shape.to_vec();
            let element = element_name(found.grid.kind.name(), found.grid.components as i64);
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
    document.notes.add_to(&head.path, &mut metadata)?;
    let names = document.pieces.first().map_or(&[][..], |piece| &piece.points);
    let array = |array: &vti::document::VtiArray| {
        describe_array(head, &document.frame, (&array.name, array.at, &array.kind), array.components.value)
    };
    let arrays: Vec<ArrayDescription> = names.iter().map(array).collect();
    Ok((arrays.clone(), with_name_of_only_array(metadata, &arrays)))
}

fn from_pvti(head: &Head) -> Result<(Vec<ArrayDescription>, Metadata), IoError> {
    let index = read_pvti(head)?;
    let mut metadata = index.frame.metadata();
    index.notes.add_to(&head.path, &mut metadata)?;
    let array = |array: &vti::index::IndexedArray| {
        describe_array(head, &index.frame, (&array.name, array.at, &array.kind), array.components.value)
    };
    let arrays: Vec<ArrayDescription> = index.arrays.iter().map(array).collect();
    Ok((arrays.clone(), with_name_of_only_array(metadata, &arrays)))
}

/// Describes a VTK array; an unsupported type appears as written in the file.
fn describe_array(
    head: &Head,
    frame: &Frame,
    (name, at, kind): (&str, u64, &str),
    components: i64,
) -> ArrayDescription {
    let number = vti::kind(head, at, kind).map_or_else(|_| kind.to_string(), |kind| kind.to_string());
    let (shape, element) = (frame.sizes().value, element_name(&number, components));
    ArrayDescription { name: Some(name.into()), shape, element, ..ArrayDescription::default() }
}

fn with_name_of_only_array(mut metadata: Metadata, arrays: &[ArrayDescription]) -> Metadata {
    if let (None, [array]) = (&metadata.name, arrays) {
        metadata.name.clone_from(&array.name);
    }
    metadata
}

fn element_name(number: &str, count: i64) -> String {
    if count == 1 { number.into() } else { format!("[{number}; {count}]") }
}
