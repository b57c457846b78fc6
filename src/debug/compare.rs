//! Comparison of two arrays.
use std::rc::Rc;

use zippy_protocol::Difference;

use crate::World;
use crate::algorithms::reduce::{CellPosition, count_differing};
use crate::array::{ArrayCore, ArrayKind, UntypedSection, align_sections};
use crate::chunks::ChunkId;
use crate::error::Result;
use crate::extents::Index;
use crate::region::Region;
use crate::world::CollectiveWorld;

/// Counts the cells of two global arrays that differ in any bit, and finds the first of them, axis
/// 0 fastest. Collective, inside an operation that all ranks have compared; all ranks return the
/// same. The device compares the cells; the host compares them block by block on a software adapter
/// and for large cells.
///
/// # Errors
/// A failure of this or of another rank. The inner error is the reason why the arrays cannot be
/// compared: different types or shapes, an array that is not global, or corresponding cells on
/// different ranks.
pub(super) fn compare(world: &World, arrays: [&Rc<ArrayCore>; 2]) -> Result<Result<Difference, String>> {
    if let Some(text) = reason_not_comparable(arrays) {
        return Ok(Err(text));
    }
    let sides = arrays.map(|array| UntypedSection { core: array.clone(), region: array.bounds(), chunk: None });
    let boxes = match align_sections("a comparison", &sides) {
        Ok(boxes) => boxes,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let (mut cells, mut first) = (0, CellPosition::NOWHERE);
    for boxes in boxes {
        let boxes = [boxes.0[0], boxes.0[1]];
        let (count, at) = count_differing(arrays, boxes)?.map_or_else(|| count_differing_on_host(arrays, boxes), Ok)?;
        (cells, first) = (cells + count, first.min(at));
    }
    let (mut cells, mut first) = ([cells], [first]);
    world.inner_group().all_reduce(&mut cells, |sum, more| *sum += more)?;
    world.inner_group().all_reduce(&mut first, |least, other| *least = (*least).min(*other))?;
    Ok(Ok(Difference { cells: cells[0], first: first[0].in_axes(sides[0].region.axes()) }))
}

/// Reason why two arrays cannot be compared; `None` if they can.
pub(super) fn reason_not_comparable(arrays: [&Rc<ArrayCore>; 2]) -> Option<String> {
    if let Some(array) = arrays.iter().find(|array| array.kind() != ArrayKind::Global) {
        return Some(format!("array {:?} is a {} one; only global arrays are compared", array.name(), array.kind()));
    }
    let [one, other] = arrays;
    if one.element() != other.element() {
        let types = [one, other].map(|array| format!("array {:?} is of {}", array.name(), array.element().name));
        return Some(format!("{} and {}; only arrays of one type are compared", types[0], types[1]));
    }
    let shapes = [one, other].map(|array| array.bounds().extents());
    if shapes[0] != shapes[1] {
        let (a, b) = (one.name(), other.name());
        return Some(format!(
            "array {a:?} has {} cells and array {b:?} {}; only arrays of one shape are compared",
            shapes[0], shapes[1]
        ));
    }
    None
}

/// Counts the cells of two boxes that differ, and finds the first of them, in the coordinates of
/// the first array.
fn count_differing_on_host(arrays: [&Rc<ArrayCore>; 2], boxes: [(ChunkId, Region); 2]) -> Result<(u64, CellPosition)> {
    let bytes = arrays[0].element().bytes;
    let block_cells = (arrays[0].device().preferred_block_bytes() / bytes as u64).max(1);
    let (mut cells, mut first) = (0, CellPosition::NOWHERE);
    let mut read = [Vec::new(), Vec::new()];
    for part in boxes[0].1.cut(block_cells) {
        let shift = part.start - boxes[0].1.start;
        for ((array, (chunk, whole)), read) in arrays.iter().zip(boxes).zip(&mut read) {
            read.resize(part.cells() as usize * bytes, 0);
            array.read(chunk, &Region::at(whole.start + shift, part.extents()), read)?;
        }
        if read[0] == read[1] {
            continue;
        }
        let pairs = read[0].chunks_exact(bytes).zip(read[1].chunks_exact(bytes)).enumerate();
        let mut differ = pairs.filter(|(_, (one, other))| one != other).map(|(index, _)| index).peekable();
        if let Some(&index) = differ.peek() {
            first = first.min(CellPosition::new(&cell_position(&part, index as i64)));
        }
        cells += differ.count() as u64;
    }
    Ok((cells, first))
}

/// The cell at an index of a region, axis 0 fastest.
fn cell_position(region: &Region, mut index: i64) -> Index {
    let extents = region.extents();
    Index::from_fn(region.axes(), |axis| {
        let at = region.start[axis] + index % extents[axis];
        index /= extents[axis];
        at
    })
}
