//! Coordinate arrays: one-dimensional arrays next to an array, one per axis.

use serde_json::{Map, Value};
use zippy::extents::Index;
use zippy::region::Region;
use zippy_files::FileError;

use super::directory::CollectiveStore;
use super::document;
use super::encode::Encoder;
use super::fields::{Leaf, child_path};
use super::options::{ChunkGrid, ZarrOptions};
use super::stored::StoredArray;
use super::tree::StoreTree;
use zippy_io::array::Axis;

const MOST_CELLS: i64 = 1 << 20;

pub(super) fn has_coordinates(axis: &Axis, cells: i64) -> bool {
    axis.name.is_some() && (1..=MOST_CELLS).contains(&cells)
}

/// Every `every`-th cell of an axis.
pub(super) struct CoordinateCells {
    pub count: i64,
    pub every: f64,
    pub is_checked: bool,
}

/// Writes a coordinate array. On one rank.
pub(super) fn write(
    store: &mut CollectiveStore,
    group: &str,
    axis: &Axis,
    cells: &CoordinateCells,
) -> Result<(), FileError> {
    let Some(name) = axis.name.as_ref().filter(|_| has_coordinates(axis, cells.count)) else { return Ok(()) };
    let node = child_path(group, name);
    let leaf = Leaf { fields: Vec::new(), offset: 0, kind: "float64", number_bytes: 8, numbers: None };
    let shape = Index::new(&[cells.count]);
    let units = axis.unit.iter().map(|unit| ("units".to_string(), Value::from(unit.as_str())));
    let attributes: Map<String, Value> = units.collect();
    let grid = ChunkGrid { chunk: shape, shard: None };
    let options = ZarrOptions::new().checksum(cells.is_checked).write_empty();
    let text = document::array(&leaf, &shape, std::slice::from_ref(name), &grid, &options, attributes);
    store.put(&format!("{node}/zarr.json"), text.as_bytes());
    let position = |cell: i64| axis.origin + cell as f64 * cells.every * axis.spacing;
    let bytes: Vec<u8> = (0..cells.count).flat_map(|cell| position(cell).to_ne_bytes()).collect();
    let key = format!("{node}/c/0");
    let encoder = Encoder::new(store.path(), leaf, 8, grid, &options)?;
    let wrong = |error: String| FileError::request(&store.path().join(&key), format!("cannot be encoded: {error}"));
    let encoded = encoder.encode(&bytes, &shape).map_err(wrong)?;
    encoded.into_iter().for_each(|encoded| store.put(&key, &encoded));
    Ok(())
}

/// Reads an axis from its coordinate array in xarray's format: unit, and spacing and origin if the
/// coordinates are equidistant. Without such an array, or with one of another type, the axis has
/// only a name.
pub(super) fn read(tree: &mut StoreTree, group: &str, name: &str, cells: i64) -> Result<Axis, FileError> {
    let bare = Axis { name: Some(name.to_string()), ..Axis::default() };
    let Ok(Some(array)) = tree.find_array(&child_path(group, name)) else { return Ok(bare) };
    let unit = array.metadata.attributes.get("units").and_then(Value::as_str).map(str::to_string);
    let with_unit = Axis { unit, ..bare };
    let kinds = [("float64", 8), ("float32", 4), ("int64", 8), ("int32", 4)];
    let Some((kind, number_bytes)) = kinds.into_iter().find(|(kind, _)| *kind == array.metadata.data_type.name())
    else {
        return Ok(with_unit);
    };
    let leaf = Leaf { fields: Vec::new(), offset: 0, kind, number_bytes, numbers: None };
    let Ok(mut stored) = StoredArray::new(&array, &leaf, 1) else { return Ok(with_unit) };
    if *stored.shape != [cells] || !(1..=MOST_CELLS).contains(&cells) {
        return Ok(with_unit);
    }
    let whole = Region::whole(stored.shape);
    let mut positions = Vec::new();
    for chunk in stored.chunks_overlapping(&whole).points() {
        let region = stored.region(&chunk).intersect(&whole).unwrap_or(whole);
        let count = region.cells() as usize * number_bytes;
        let bytes = stored.read(&chunk)?;
        let fill = stored.fill.repeat(if bytes.is_some() { 0 } else { region.cells() as usize });
        let bytes = bytes.as_ref().map_or(&fill[..], |bytes| &bytes[..count]);
        positions.extend(bytes.chunks_exact(number_bytes).map(|bytes| number(kind, bytes)));
    }
    Ok(match equidistant(&positions, if kind == "float32" { 1e-6 } else { 1e-12 }) {
        Some((origin, spacing)) => Axis { origin, spacing, ..with_unit },
        None => with_unit,
    })
}

fn number(kind: &str, bytes: &[u8]) -> f64 {
    let four_bytes = || bytes.try_into().unwrap_or_default();
    let eight_bytes = || bytes.try_into().unwrap_or_default();
    match kind {
        "float32" => f32::from_ne_bytes(four_bytes()).into(),
        "int32" => i32::from_ne_bytes(four_bytes()).into(),
        "int64" => i64::from_ne_bytes(eight_bytes()) as f64,
        _ => f64::from_ne_bytes(eight_bytes()),
    }
}

/// First position and spacing, if the positions are equidistant within the relative error
/// `rounding`.
fn equidistant(positions: &[f64], rounding: f64) -> Option<(f64, f64)> {
    let (first, last) = (*positions.first()?, *positions.last()?);
    let spacing = if positions.len() == 1 { 1.0 } else { (last - first) / (positions.len() - 1) as f64 };
    let slack = spacing.abs() * 1e-3 + first.abs().max(last.abs()) * rounding;
    let is_even =
        positions.iter().enumerate().all(|(i, position)| (position - (first + i as f64 * spacing)).abs() <= slack);
    (is_even && spacing != 0.0 && slack.is_finite()).then_some((first, spacing))
}
