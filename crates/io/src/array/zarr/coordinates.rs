//! The places of cells along each axis, as arrays of one dimension beside the array.

use serde_json::{Map, Value};
use zippy::extents::Index;

use super::directory::CollectiveStore;
use super::document;
use super::fields::{Leaf, under};
use super::options::{Grid, ZarrOptions};
use crate::array::metadata::Axis;

/// Of longer axes the places would be as large as the array.
const MOST_CELLS: i64 = 1 << 20;

/// Which axes have such an array.
pub fn has_one(axis: &Axis, cells: i64) -> bool {
    axis.name.is_some() && (1..=MOST_CELLS).contains(&cells)
}

/// Writes the array of an axis into a group; `every`: of so many cells one is stored. By one rank.
pub fn write(store: &mut CollectiveStore<'_>, group: &str, axis: &Axis, cells: i64, every: f64) {
    let Some(name) = axis.name.as_ref().filter(|_| has_one(axis, cells)) else { return };
    let node = under(group, name);
    let leaf = Leaf { fields: Vec::new(), offset: 0, kind: "float64", number_bytes: 8, numbers: None };
    let shape = Index::new(&[cells]);
    let units = axis.unit.iter().map(|unit| ("units".to_string(), Value::from(unit.as_str())));
    let attributes: Map<String, Value> = units.collect();
    let grid = Grid { chunk: shape, shard: None };
    let text = document::array(&leaf, &shape, &[name.clone()], &grid, &ZarrOptions::default(), attributes);
    store.put(&format!("{node}/zarr.json"), text.as_bytes());
    let place = |cell: i64| axis.origin + cell as f64 * every * axis.spacing;
    let bytes: Vec<u8> = (0..cells).flat_map(|cell| place(cell).to_le_bytes()).collect();
    store.put(&format!("{node}/c/0"), &bytes);
}
