//! [`Items`]: what kernels are told to look at. On the device: `shaders/kernels/items.wgsl`.

use std::ops::Range;

use crate::field::part::Part;
use crate::points::piece::Piece;

/// Words that are known of an item on the device.
pub const ITEM_WORDS: u64 = 126;

/// A brick of one of this rank's chunks that one of the surfaces may cross.
pub struct Item {
    pub piece: usize,
    pub mesh: usize,
    pub at: [i64; 3],
    /// Its place among those whose words neighbours ask for, or this rank asks neighbours for.
    pub border: Option<u32>,
}

/// All of a rank, chunk by chunk and then mesh by mesh.
pub struct Items {
    pub all: Vec<Item>,
    pub borders: usize,
    meshes: usize,
    /// Of each chunk and mesh: own bricks, then those that follow.
    ranges: Vec<[Range<usize>; 2]>,
    /// Of each chunk and mesh: where places of its bricks begin in the list of all.
    slots: Vec<usize>,
}

impl Items {
    /// Borders only matter where meshes are welded.
    pub fn new(pieces: &[Piece<3>], meshes: usize, is_welded: bool) -> Self {
        let mut items = Self { all: Vec::new(), borders: 0, meshes, ranges: Vec::new(), slots: vec![0] };
        for (number, piece) in pieces.iter().enumerate() {
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

    /// Those of a chunk.
    pub fn of_piece(&self, piece: usize) -> Range<usize> {
        let of_piece = &self.ranges[piece * self.meshes..(piece + 1) * self.meshes];
        let start = of_piece.first().map_or(0, |[own, _]| own.start);
        start..of_piece.last().map_or(start, |[_, others]| others.end)
    }

    /// Those of a chunk and a mesh: own bricks, and those that follow.
    pub fn of_mesh(&self, piece: usize, mesh: usize) -> [Range<usize>; 2] {
        self.ranges[piece * self.meshes + mesh].clone()
    }

    /// Where places of the bricks of a chunk and a mesh begin.
    pub fn first_slot(&self, piece: usize, mesh: usize) -> usize {
        self.slots[piece * self.meshes + mesh]
    }

    /// How many places there are.
    pub fn slots(&self) -> usize {
        self.slots.last().copied().unwrap_or(0)
    }
}

/// Whether other chunks use samples of a brick, or have them: their cells end where samples of this chunk begin.
fn is_border(part: &Part, at: [i64; 3]) -> bool {
    !part.is_own(at) || (0..3).any(|axis| at[axis] == 0 && part.start[axis] > 0)
}
