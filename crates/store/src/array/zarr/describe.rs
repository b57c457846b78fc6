use std::path::Path;

use serde::Deserialize;
use zarrs::metadata::v3::ArrayMetadataV3;
use zippy_files::FileError;

use super::decode;
use super::open::metadata;
use super::tree::{NamedArray, StoreTree};
use zippy_io::array::Format;
use zippy_io::array::{ArrayDescription, Description};

/// Describes the arrays of a Zarr store of version 3 or 2, sorted by path, from their documents
/// alone; unsupported features are no error. The metadata belongs to the array that a load without
/// a name selects. Local.
pub(crate) fn describe(path: &Path) -> Result<Description, FileError> {
    let mut tree = StoreTree::new(path);
    tree.check()?;
    let describe_node = |(name, array): NamedArray| match array {
        Ok(array) => describe_array(name, &array),
        Err(error) => {
            let mut unreadable = ArrayDescription::default();
            (unreadable.name, unreadable.error) = (Some(name), Some(error));
            unreadable
        }
    };
    let arrays = tree.arrays(None)?.into_iter().map(describe_node).collect();
    Ok(Description::new(Format::Zarr, arrays, metadata(&mut tree).unwrap_or_default()))
}

fn describe_array(name: String, array: &ArrayMetadataV3) -> ArrayDescription {
    #[derive(Deserialize)]
    struct Chunks {
        chunk_shape: Vec<u64>,
    }
    let axis_0_first =
        |extents: &[u64]| extents.iter().rev().map(|&cells| i64::try_from(cells).unwrap_or(i64::MAX)).collect();
    let chunks = array.chunk_grid.to_typed_configuration();
    let mut description = ArrayDescription::default();
    description.name = Some(name);
    description.shape = axis_0_first(&array.shape);
    description.element = rust_type_name(array.data_type.name());
    description.chunk = chunks.map_or(Vec::new(), |chunks: Chunks| axis_0_first(&chunks.chunk_shape));
    description.codecs = decode::names(&array.codecs);
    description
}

fn rust_type_name(kind: &str) -> String {
    let letters = [("float", "f"), ("uint", "u"), ("int", "i")];
    let known = letters.iter().find_map(|(long, short)| Some(format!("{short}{}", kind.strip_prefix(long)?)));
    known.unwrap_or_else(|| kind.to_string())
}
