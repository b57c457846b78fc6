use serde_json::{Map, Value, json};
use zippy::extents::Index;

use super::encode::{codecs, zarr_extents};
use super::fields::Leaf;
use super::options::{ChunkGrid, ZarrOptions};

pub(super) fn group(attributes: Map<String, Value>) -> String {
    format!("{:#}", json!({"zarr_format": 3, "node_type": "group", "attributes": attributes}))
}

/// Document of an array; `names` are the names of its axes, axis 0 first.
pub(super) fn array(
    leaf: &Leaf,
    shape: &Index,
    names: &[String],
    grid: &ChunkGrid,
    options: &ZarrOptions,
    attributes: Map<String, Value>,
) -> String {
    let mut dimensions: Vec<String> = names.iter().rev().cloned().collect();
    // Fields of a record can have different numbers of components, so the name contains the number.
    dimensions.extend(leaf.numbers.map(|numbers| format!("component_{numbers}")));
    // zarr-python refuses the short form of codecs, which `zarrs` writes.
    let zero = if leaf.kind.starts_with("float") { json!(0.0) } else { json!(0) };
    let document = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": zarr_extents(leaf, shape),
        "data_type": leaf.kind,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": zarr_extents(leaf, &grid.file())}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": zero,
        "codecs": codecs(leaf, grid, options),
        "attributes": attributes,
        "dimension_names": dimensions,
    });
    format!("{document:#}")
}
