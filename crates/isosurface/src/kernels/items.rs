//! [`Items`]: work list of kernels. Equivalent to `shaders/kernels/items.wgsl`.

use std::ops::Range;

use crate::field::bricked_chunk::BrickedChunk;
use crate::points::chunk_points::ChunkPoints;

/// Number of words per item on the device.
pub(crate) const ITEM_WORDS: u64 = 126;

/// Brick of one of this rank's chunks that one of the surfaces may cross.
pub(crate) struct Item {
    pub piece: usize,
    pub mesh: usize,
    pub at: [i64; 3],
    /// Index among the border items, whose words are exchanged with neighbours.
    pub border: Option<u32>,
}

/// Items of a rank, by chunk and then mesh.
pub(crate) struct Items {
    pub all: Vec<Item>,
    pub borders: usize,
    meshes: usize,
    /// Per chunk and mesh: items of own bricks, then of the bricks after them.
    ranges: Vec<[Range<usize>; 2]>,
    /// Per chunk and mesh: first slot of its bricks in the list of all.
    slots: Vec<usize>,
}

impl Items {
    /// Builds the work list. Only welded meshes have border items.
    pub(crate) fn new(chunk_points: &[ChunkPoints<3>], meshes: usize, is_welded: bool) -> Self {
        let mut items = Self { all: Vec::new(), borders: 0, meshes, ranges: Vec::new(), slots: vec![0] };
        for (number, piece) in chunk_points.iter().enumerate() {
            for mesh in 0..meshes {
                let first = items.all.len();
                for visit in piece.visits.iter().filter(|visit| visit.layers.contains(&mesh)) {
                    let is_border = is_welded && is_border(&piece.part, visit.at);
                    let border = is_border.then_some(items.borders as u32);
                    items.borders += usize::from(border.is_some());
                    items.all.push(Item { piece: number, mesh, at: visit.at, border });
                }
                let is_own = |item: &Item| piece.part.is_own(item.at);
                let middle = first + items.all[first..].partition_point(is_own);
                items.ranges.push([first..middle, middle..items.all.len()]);
                items.slots.push(items.slots.last().unwrap_or(&0) + piece.part.brick_count());
            }
        }
        items
    }

    /// Items of a chunk.
    pub(crate) fn of_chunk(&self, piece: usize) -> Range<usize> {
        let of_chunk = &self.ranges[piece * self.meshes..(piece + 1) * self.meshes];
        let start = of_chunk.first().map_or(0, |[own, _]| own.start);
        start..of_chunk.last().map_or(start, |[_, others]| others.end)
    }

    /// Items of a chunk and a mesh: own bricks, and the bricks after them.
    pub(crate) fn of_mesh(&self, piece: usize, mesh: usize) -> [Range<usize>; 2] {
        self.ranges[piece * self.meshes + mesh].clone()
    }

    /// First slot of the bricks of a chunk and a mesh.
    pub(crate) fn first_slot(&self, piece: usize, mesh: usize) -> usize {
        self.slots[piece * self.meshes + mesh]
    }

    /// Number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.slots.last().copied().unwrap_or(0)
    }
}

/// True if other chunks use or own samples of a brick: their cells end at samples of this chunk.
fn is_border(part: &BrickedChunk, at: [i64; 3]) -> bool {
    !part.is_own(at) || (0..3).any(|axis| at[axis] == 0 && part.start[axis] > 0)
}
