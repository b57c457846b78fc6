//! The documents `zarr.json` of groups and arrays.

use serde_json::{Map, Value, json};
use zippy::extents::Index;

use super::encode::{codecs, extents};
use super::fields::Leaf;
use super::options::{ChunkGrid, ZarrOptions};

/// The document of a group.
pub fn group(attributes: Map<String, Value>) -> String {
    format!("{:#}", json!({"zarr_format": 3, "node_type": "group", "attributes": attributes}))
}

/// The document of an array of cells; `names` are those of its axes, axis 0 first.
pub fn array(
    leaf: &Leaf,
    shape: &Index,
    names: &[String],
    grid: &ChunkGrid,
    options: &ZarrOptions,
    attributes: Map<String, Value>,
) -> String {
    let mut dimensions: Vec<String> = names.iter().rev().cloned().collect();
    // Fields of a record have vectors of several lengths, and a dimension has one.
    dimensions.extend(leaf.numbers.map(|numbers| format!("component_{numbers}")));
    // A codec is an object also where it has nothing but a name: the short form that the library writes zarr-python refuses.
    let zero = if leaf.kind.starts_with("float") { json!(0.0) } else { json!(0) };
    let document = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": extents(leaf, shape),
        "data_type": leaf.kind,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": extents(leaf, &grid.file())}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": zero,
        "codecs": codecs(leaf, grid, options),
        "attributes": attributes,
        "dimension_names": dimensions,
    });
    format!("{document:#}")
}
