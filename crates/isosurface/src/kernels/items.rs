//! [`Items`]: work list of kernels. In kernels: `shaders/kernels/items.wgsl`.

use std::ops::Range;

use crate::field::block::{BRICK, ROWS};
use crate::field::bricked_chunk::BrickedChunk;
use crate::points::brick_points::ROWS_AND_NEXT;
use crate::points::chunk_points::ChunkPoints;

/// Number of invocations of a workgroup.
pub(super) const LANES: usize = 64;

/// Slot without an item, and shape of ambiguous cases.
pub(super) const NONE: u32 = u32::MAX;

/// Number of words of an ambiguous cell that the host reads.
pub(super) const CELL_WORDS: usize = 10;

/// Words of an item that have the samples at which crossed edges begin: three directions, row by
/// row.
pub(crate) const EDGE_WORDS: usize = 3 * ROWS;

/// Offset in an item of the numbers of the brick's edges before each word.
pub(super) const BEFORE: usize = EDGE_WORDS;

/// Offset in an item of the inside samples, a word per row with the next rows.
pub(super) const INSIDE: usize = 2 * EDGE_WORDS;

/// Offset in an item of the samples after the rows, a word per layer of rows.
pub(super) const AFTER_ROWS: usize = INSIDE + ROWS_AND_NEXT;

/// Number of words per item on the device.
pub(crate) const ITEM_WORDS: u64 = (AFTER_ROWS + BRICK[2] + 1) as u64;

/// Work item: a brick of this rank that one of the surfaces may cross.
pub(crate) struct Item {
    pub chunk: usize,
    pub mesh: usize,
    pub at: [i64; 3],
    /// Index among the border items; neighbours receive the words of border items.
    pub border: Option<u32>,
}

/// Work items of a rank, by chunk and then mesh.
pub(crate) struct Items {
    pub all: Vec<Item>,
    pub borders: usize,
    meshes: usize,
    /// Per chunk and mesh: items of own bricks, then of the bricks after the chunk.
    ranges: Vec<[Range<usize>; 2]>,
    /// Per chunk and mesh: first slot of its bricks.
    slots: Vec<usize>,
}

impl Items {
    /// Builds the work list. Only welded meshes have border items.
    pub(crate) fn new(chunk_points: &[ChunkPoints<3>], meshes: usize, is_welded: bool) -> Self {
        let mut items = Self { all: Vec::new(), borders: 0, meshes, ranges: Vec::new(), slots: vec![0] };
        for (number, chunk) in chunk_points.iter().enumerate() {
            for mesh in 0..meshes {
                let first = items.all.len();
                for visit in chunk.visits.iter().filter(|visit| visit.layers.contains(&mesh)) {
                    let is_border = is_welded && is_border(&chunk.part, visit.at);
                    let border = is_border.then_some(items.borders as u32);
                    items.borders += usize::from(border.is_some());
                    items.all.push(Item { chunk: number, mesh, at: visit.at, border });
                }
                let is_own = |item: &Item| chunk.part.is_own(item.at);
                let middle = first + items.all[first..].partition_point(is_own);
                items.ranges.push([first..middle, middle..items.all.len()]);
                items.slots.push(items.slots.last().unwrap_or(&0) + chunk.part.brick_count());
            }
        }
        items
    }

    pub(crate) fn of_chunk(&self, chunk: usize) -> Range<usize> {
        let of_chunk = &self.ranges[chunk * self.meshes..(chunk + 1) * self.meshes];
        let start = of_chunk.first().map_or(0, |[own, _]| own.start);
        start..of_chunk.last().map_or(start, |[_, others]| others.end)
    }

    /// Items of a chunk and a mesh: own bricks, and the bricks after the chunk.
    pub(crate) fn of_mesh(&self, chunk: usize, mesh: usize) -> [Range<usize>; 2] {
        self.ranges[chunk * self.meshes + mesh].clone()
    }

    pub(crate) fn first_slot(&self, chunk: usize, mesh: usize) -> usize {
        self.slots[chunk * self.meshes + mesh]
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots.last().copied().unwrap_or(0)
    }
}

/// True if another chunk uses or owns samples of the brick.
fn is_border(part: &BrickedChunk, at: [i64; 3]) -> bool {
    !part.is_own(at) || (0..3).any(|axis| at[axis] == 0 && part.start[axis] > 0)
}
