//! [`describe`]: what arrays a Zarr store has.

use std::path::Path;

use serde::Deserialize;
use zarrs::metadata::v3::ArrayMetadataV3;

use super::open::metadata;
use super::{decode, node};
use crate::IoError;
use crate::array::describe::{ArrayDescription, Description};
use crate::array::format::Format;

/// An array of a Zarr store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Described {
    /// Its name in the store, as "density" or "levels/1/density"; empty where the store is one array.
    pub name: String,
    /// The type of its numbers, as Zarr calls it: "float32".
    pub kind: String,
    /// Its extents, axis 0 (the last dimension of Zarr) first. Those of vectors begin with that of their numbers.
    pub shape: Vec<u64>,
    /// The extents of what is in a file of its own, a chunk or a shard, in the same order; none of a grid that is not regular.
    pub file: Vec<u64>,
    /// The names of its dimensions in the same order; "" where one has none.
    pub dimensions: Vec<String>,
    /// Its codecs in the order of encoding, those within shards behind that of the shards.
    pub codecs: Vec<String>,
    /// Why its document cannot be read, where it cannot: what is above is empty then, but the name.
    pub error: Option<IoError>,
}

/// The arrays of a Zarr store of version 3 or 2, in the order of their names, by their documents alone: no cell is read, and
/// what they need that is not read here is no error. Local to the calling rank.
///
/// # Errors
/// There is no store; its directories cannot be read; there are more than 10,000 arrays and groups.
pub fn describe(path: impl AsRef<Path>) -> Result<Vec<Described>, IoError> {
    #[derive(Deserialize)]
    struct Chunks {
        chunk_shape: Vec<u64>,
    }
    let path = path.as_ref();
    if node::document(path).is_none() {
        return Err(IoError::request(path, "is no Zarr store: it has no zarr.json, .zgroup or .zarray"));
    }
    let turned = |extents: &[u64]| extents.iter().rev().copied().collect();
    let one = |name: String, array: ArrayMetadataV3| Described {
        name,
        kind: array.data_type.name().to_string(),
        shape: turned(&array.shape),
        file: array
            .chunk_grid
            .to_typed_configuration()
            .map_or(Vec::new(), |chunks: Chunks| turned(&chunks.chunk_shape)),
        dimensions: array.dimension_names.into_iter().flatten().rev().map(Option::unwrap_or_default).collect(),
        codecs: decode::names(&array.codecs),
        error: None,
    };
    let any = |(name, array): node::Named| match array {
        Ok(array) => one(name, array),
        Err(error) => Described { name, error: Some(error), ..Described::default() },
    };
    Ok(node::arrays(path, None)?.into_iter().map(any).collect())
}

/// [`describe`] in the words of all formats; the metadata are those of the array that is loaded where none is named.
///
/// # Errors
/// As [`describe`].
pub fn described(path: &Path) -> Result<Description, IoError> {
    let told = |one: Described| ArrayDescription {
        name: Some(one.name),
        shape: one.shape.iter().map(|&cells| i64::try_from(cells).unwrap_or(i64::MAX)).collect(),
        element: short(&one.kind),
    };
    let arrays = describe(path)?.into_iter().map(told).collect();
    Ok(Description { format: Format::Zarr, arrays, metadata: metadata(path).unwrap_or_default() })
}

/// The name of a type of numbers as Rust has it.
fn short(kind: &str) -> String {
    let letters = [("float", "f"), ("uint", "u"), ("int", "i")];
    let known = letters.iter().find_map(|(long, short)| Some(format!("{short}{}", kind.strip_prefix(long)?)));
    known.unwrap_or_else(|| kind.to_string())
}
