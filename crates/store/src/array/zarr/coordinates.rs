//! Coordinates of cells along each axis, as one-dimensional arrays next to the array.

use serde_json::{Map, Value};
use zippy::extents::Index;
use zippy::region::Region;
use zippy_files::FileError;

use super::directory::CollectiveStore;
use super::document;
use super::encode::Encoder;
use super::fields::{Leaf, under};
use super::options::{ChunkGrid, ZarrOptions};
use super::stored::StoredArray;
use super::tree::StoreTree;
use zippy_io::array::Axis;

/// Maximum length of an axis with coordinates.
const MOST_CELLS: i64 = 1 << 20;

/// True if the coordinates of an axis are written.
pub(super) fn has_coordinates(axis: &Axis, cells: i64) -> bool {
    axis.name.is_some() && (1..=MOST_CELLS).contains(&cells)
}

/// Cells of an axis whose coordinates are written: `count` cells at every `every`-th position.
pub(super) struct CoordinateCells {
    pub count: i64,
    pub every: f64,
    pub is_checked: bool,
}

/// Writes the coordinate array of an axis into a group. Called by one rank.
///
/// # Errors
/// A codec fails.
pub(super) fn write(
    store: &mut CollectiveStore,
    group: &str,
    axis: &Axis,
    cells: &CoordinateCells,
) -> Result<(), FileError> {
    let Some(name) = axis.name.as_ref().filter(|_| has_coordinates(axis, cells.count)) else { return Ok(()) };
    let node = under(group, name);
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

/// Reads an axis from its coordinate array, as xarray writes it: unit, and spacing and origin if
/// the coordinates are equidistant. Without such an array, or with one of another type, the axis
/// has only a name.
///
/// # Errors
/// The array is damaged.
pub(super) fn read(tree: &mut StoreTree, group: &str, name: &str, cells: i64) -> Result<Axis, FileError> {
    let nameless = Axis { name: Some(name.to_string()), ..Axis::default() };
    let Ok(Some(array)) = tree.find_array(&under(group, name)) else { return Ok(nameless) };
    let unit = array.metadata.attributes.get("units").and_then(Value::as_str).map(str::to_string);
    let known = Axis { unit, ..nameless };
    let kinds = [("float64", 8), ("float32", 4), ("int64", 8), ("int32", 4)];
    let Some((kind, number_bytes)) = kinds.into_iter().find(|(kind, _)| *kind == array.metadata.data_type.name())
    else {
        return Ok(known);
    };
    let leaf = Leaf { fields: Vec::new(), offset: 0, kind, number_bytes, numbers: None };
    let Ok(mut stored) = StoredArray::new(&array, &leaf, 1) else { return Ok(known) };
    if *stored.shape != [cells] || !(1..=MOST_CELLS).contains(&cells) {
        return Ok(known);
    }
    let whole = Region::whole(stored.shape);
    let mut positions = Vec::new();
    for piece in stored.touching(&whole).points() {
        let region = stored.region(&piece).intersect(&whole).unwrap_or(whole);
        let count = region.cells() as usize * number_bytes;
        let bytes = stored.read(&piece)?;
        let fill = stored.fill.repeat(if bytes.is_some() { 0 } else { region.cells() as usize });
        let bytes = bytes.as_ref().map_or(&fill[..], |bytes| &bytes[..count]);
        positions.extend(bytes.chunks_exact(number_bytes).map(|bytes| number(kind, bytes)));
    }
    Ok(match equidistant(&positions, if kind == "float32" { 1e-6 } else { 1e-12 }) {
        Some((origin, spacing)) => Axis { origin, spacing, ..known },
        None => known,
    })
}

fn number(kind: &str, bytes: &[u8]) -> f64 {
    let half = || bytes.try_into().unwrap_or_default();
    let whole = || bytes.try_into().unwrap_or_default();
    match kind {
        "float32" => f32::from_ne_bytes(half()).into(),
        "int32" => i32::from_ne_bytes(half()).into(),
        "int64" => i64::from_ne_bytes(whole()) as f64,
        _ => f64::from_ne_bytes(whole()),
    }
}

/// First position and spacing, if the positions are equidistant within relative `rounding`.
fn equidistant(positions: &[f64], rounding: f64) -> Option<(f64, f64)> {
    let (first, last) = (*positions.first()?, *positions.last()?);
    let spacing = if positions.len() == 1 { 1.0 } else { (last - first) / (positions.len() - 1) as f64 };
    let slack = spacing.abs() * 1e-3 + first.abs().max(last.abs()) * rounding;
    let is_even =
        positions.iter().enumerate().all(|(i, position)| (position - (first + i as f64 * spacing)).abs() <= slack);
    (is_even && spacing != 0.0 && slack.is_finite()).then_some((first, spacing))
}
