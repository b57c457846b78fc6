//! The documents `zarr.json` of groups and arrays.

use serde_json::{Map, Number, Value, json};
use zarrs::metadata::v3::{ArrayMetadataV3, FillValueMetadataV3, GroupMetadataV3, MetadataV3};
use zippy::extents::Index;

use super::encode::{codecs, extents};
use super::fields::Leaf;
use super::options::{Grid, ZarrOptions};

/// The dimension of a vector's numbers.
const COMPONENT: &str = "component";

/// The document of a group.
pub fn group(attributes: Map<String, Value>) -> String {
    GroupMetadataV3::new().with_attributes(attributes).to_string_pretty()
}

/// The document of an array of cells; `names` are those of its axes, axis 0 first.
pub fn array(
    leaf: &Leaf,
    shape: &Index,
    names: &[String],
    grid: &Grid,
    options: &ZarrOptions,
    attributes: Map<String, Value>,
) -> String {
    let mut dimensions: Vec<String> = names.iter().rev().cloned().collect();
    if leaf.numbers.is_some() {
        let is_free = !names.iter().any(|name| name == COMPONENT);
        dimensions.push(if is_free { COMPONENT.into() } else { format!("{COMPONENT}_of_vector") });
    }
    let zero = match leaf.kind.starts_with("float") {
        true => Number::from_f64(0.0).unwrap_or_else(|| 0.into()),
        false => 0.into(),
    };
    let codecs = codecs(leaf, grid, options).into_iter().map(described).collect();
    let chunk = json!({"name": "regular", "configuration": {"chunk_shape": extents(leaf, &grid.file())}});
    let (kind, zero) = (MetadataV3::new(leaf.kind), FillValueMetadataV3::Number(zero));
    ArrayMetadataV3::new(extents(leaf, shape), described(chunk), kind, zero, codecs)
        .with_attributes(attributes)
        .with_dimension_names(Some(dimensions))
        .to_string_pretty()
}

/// A part of a document as the library has it.
fn described(value: Value) -> MetadataV3 {
    let name = value["name"].as_str().unwrap_or_default().to_string();
    match value["configuration"].as_object() {
        Some(configuration) => MetadataV3::new_with_configuration(name, configuration.clone()),
        None => MetadataV3::new(name),
    }
}
