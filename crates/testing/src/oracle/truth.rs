//! Semantics of operations, cell by cell, without plans.
//!
//! The code is as simple as possible: an array is a map from (chunk, cell) to a value, with linear
//! searches and loops over cells. It shares only the boxes of chunks and the names of operations
//! with planners.

use std::collections::{BTreeMap, HashMap};

use super::execute::Combine;
use super::{Memory, Request, Verb};
use zippy_plan::chunks::{ChunkId, Chunks};
use zippy_plan::locate::Placement;
use zippy_plan::region::Region;

/// Position: one coordinate per axis.
pub type Cell = Vec<i64>;

/// All stored cells of an array with their ghost cells, per chunk by global coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells<T>(pub BTreeMap<(ChunkId, Cell), T>);

impl<T: Clone> Cells<T> {
    /// Cells of a memory.
    pub fn of(memory: &Memory<T>, placement: &Placement) -> Self {
        let chunk = |chunk| {
            let storage = placement.chunks().storage(chunk);
            let values = memory.chunk(placement, chunk);
            all(&storage.start, &storage.end).into_iter().zip(values.iter().cloned()).map(move |(c, v)| ((chunk, c), v))
        };
        Self((0..placement.chunks().count()).flat_map(chunk).collect())
    }
}

fn all(start: &[i64], end: &[i64]) -> Vec<Cell> {
    let mut cells = vec![Vec::new()];
    for axis in (0..start.len()).rev() {
        let longer = |cell: &Cell, x: i64| [&[x][..], cell].concat();
        cells = cells.iter().flat_map(|cell| (start[axis]..end[axis]).map(move |x| longer(cell, x))).collect();
    }
    cells
}

fn owners(chunks: &Chunks) -> HashMap<Cell, ChunkId> {
    let boxes = (0..chunks.count()).map(|chunk| (chunk, chunks.region(chunk)));
    boxes.flat_map(|(chunk, own)| all(&own.start, &own.end).into_iter().map(move |cell| (cell, chunk))).collect()
}

/// Destination after a copy or composite. Axis `i` of the destination is axis `order[i]` of the
/// source.
pub fn copy<T: Clone>(
    src: (&Chunks, &Cells<T>, &Region),
    dst: (&Chunks, &Cells<T>, &Region),
    order: &[usize],
    combine: Combine<'_, T>,
) -> Cells<T> {
    let (src_owner, dst_owner) = (owners(src.0), owners(dst.0));
    let mut after = dst.1.clone();
    for cell in all(&dst.2.start, &dst.2.end) {
        let mut from = src.2.start.to_vec();
        for axis in 0..cell.len() {
            from[order[axis]] += cell[axis] - dst.2.start[axis];
        }
        let key = (dst_owner[&cell], cell);
        let arriving = &src.1.0[&(src_owner[&from], from)];
        let value = combine(arriving, &after.0[&key]);
        after.0.insert(key, value);
    }
    after
}

/// Ghost cell that is an image of a cell of the array.
struct Ghost {
    chunk: ChunkId,
    cell: Cell,
    /// Per axis −1 before the chunk, 1 after the chunk, otherwise 0.
    direction: Vec<i8>,
    owner: ChunkId,
    image_of: Cell,
}

fn ghost_cells(chunks: &Chunks) -> Vec<Ghost> {
    let owner = owners(chunks);
    let mut ghosts = Vec::new();
    for chunk in 0..chunks.count() {
        let (own, storage) = (chunks.region(chunk), chunks.storage(chunk));
        for cell in all(&storage.start, &storage.end) {
            let side = |axis: usize| i8::from(cell[axis] >= own.end[axis]) - i8::from(cell[axis] < own.start[axis]);
            let direction: Vec<i8> = (0..cell.len()).map(side).collect();
            let mut image_of = cell.clone();
            for (axis, x) in image_of.iter_mut().enumerate().filter(|(axis, _)| chunks.periodic()[*axis]) {
                let extent = chunks.shape()[axis];
                while *x < 0 {
                    *x += extent;
                }
                while *x >= extent {
                    *x -= extent;
                }
            }
            if let Some(&owner) = owner.get(&image_of).filter(|_| direction.iter().any(|&side| side != 0)) {
                ghosts.push(Ghost { chunk, cell, direction, owner, image_of });
            }
        }
    }
    ghosts
}

/// Predicate of the ghost cells in an update, by direction and position.
pub type GhostCellFilter<'a> = &'a dyn Fn(&[i8], &[i64]) -> bool;

/// Cells after a ghost update: each ghost cell in the update has the value of its cell.
pub fn ghosts<T: Clone>(chunks: &Chunks, before: &Cells<T>, takes: GhostCellFilter<'_>) -> Cells<T> {
    let mut after = before.clone();
    for ghost in ghost_cells(chunks).into_iter().filter(|ghost| takes(&ghost.direction, &ghost.cell)) {
        after.0.insert((ghost.chunk, ghost.cell), before.0[&(ghost.owner, ghost.image_of)].clone());
    }
    after
}

/// Cells after a reverse ghost update: each cell is combined with its ghost cells in the update.
///
/// The order is: direction (last axis first; 0, −1, 1), chunk with the ghost cell, position (axis 0
/// first).
pub fn reverse_ghosts<T: Clone>(
    chunks: &Chunks,
    before: &Cells<T>,
    takes: GhostCellFilter<'_>,
    combine: Combine<'_, T>,
) -> Cells<T> {
    let mut after = before.clone();
    let mut ghosts = ghost_cells(chunks);
    let side = |side: &i8| if *side < 0 { 1 } else { 2 * *side };
    ghosts.sort_by_cached_key(|ghost| {
        let direction: Vec<i8> = ghost.direction.iter().rev().map(side).collect();
        (direction, ghost.chunk, ghost.cell.clone())
    });
    for ghost in ghosts.into_iter().filter(|ghost| takes(&ghost.direction, &ghost.cell)) {
        let arriving = &before.0[&(ghost.chunk, ghost.cell)];
        let key = (ghost.owner, ghost.image_of);
        let value = combine(arriving, &after.0[&key]);
        after.0.insert(key, value);
    }
    after
}

/// Runs the one-sided operations of a fence successively, in the order of rank and index in the
/// list. Returns the cells that each operation read.
pub fn fence<T: Clone>(
    requests: &[Request<T>],
    arrays: &mut [(&Chunks, Cells<T>)],
    combine: Combine<'_, T>,
) -> Vec<Vec<T>> {
    let owner: Vec<_> = arrays.iter().map(|(chunks, _)| owners(chunks)).collect();
    let mut read = vec![Vec::new(); requests.len()];
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&number| requests[number].rank);
    for number in order {
        let Request { array, region, verb, .. } = &requests[number];
        for (position, cell) in all(&region.start, &region.end).into_iter().enumerate() {
            let destination =
                arrays[*array].1.0.get_mut(&(owner[*array][&cell], cell)).expect("an owner stores its cells");
            match verb {
                Verb::Get => read[number].push(destination.clone()),
                Verb::Put(values) => *destination = values[position].clone(),
                Verb::Accumulate(values) => *destination = combine(&values[position], destination),
            }
        }
    }
    read
}
