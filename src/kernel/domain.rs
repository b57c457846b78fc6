//! From boxes of cells to dispatches: which axis runs along which direction, what is cut, what goes together.

use super::geometry::{MAX_BOXES, box_vectors, vectors};
use crate::extents::Index;

/// Shorter than this, axis 0 gives way to a longer axis along the dispatch's x.
const LONG: i64 = 32;

/// A box of invocations: `extents` of them from the cell at `origin`, every `step` cells along axis 0.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    origin: Index,
    extents: Index,
    /// The axis along x, along y, and those folded into z.
    order: Vec<usize>,
}

/// One dispatch over up to [`MAX_BOXES`] boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// The domain's part of the geometry.
    pub words: Vec<i32>,
    pub groups: [u32; 3],
}

/// How a kernel cuts its domain.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub workgroup: [u32; 3],
    /// The most workgroups along one direction.
    pub limit: u32,
    /// Cells along axis 0 that one invocation has.
    pub step: i64,
}

impl Block {
    fn new(origin: Index, extents: Index, alone: bool) -> Self {
        let mut order: Vec<usize> = (0..extents.axes()).collect();
        if extents[0] < LONG {
            order.sort_by_key(|&axis| -extents[axis]);
        } else if !alone {
            order[1..].sort_by_key(|&axis| -extents[axis]);
        }
        Self { origin, extents, order }
    }

    /// Extents along the dispatch's directions.
    fn size(&self) -> [i64; 3] {
        let along = |k: usize| self.order.get(k).map_or(1, |&axis| self.extents[axis]);
        let folded = self.order.iter().skip(2).fold(1_i64, |n, &axis| n.saturating_mul(self.extents[axis]));
        [along(0), along(1), folded]
    }

    /// The pieces that fit into one dispatch each.
    fn cut(self, shape: &Shape, out: &mut Vec<Self>) {
        let limit = shape.workgroup.map(|size| i64::from(size) * i64::from(shape.limit));
        let size = self.size();
        let Some(direction) = (0..3).find(|&k| size[k] > limit[k]) else {
            out.push(self);
            return;
        };
        let (axis, most) = match direction {
            2 => {
                // The outermost folded axis that is not one cell thick.
                let axis = *self.order[2..].iter().rev().find(|&&axis| self.extents[axis] > 1).expect("too large");
                (axis, (limit[2] / (size[2] / self.extents[axis])).max(1))
            }
            k => (self.order[k], limit[k]),
        };
        let length = self.extents[axis];
        let pieces = (length - 1) / most + 1;
        let step = if axis == 0 { shape.step } else { 1 };
        for i in 0..pieces {
            // In 128 bits: lengths and counts may both be large.
            let at = |i: i64| (i128::from(length) * i128::from(i) / i128::from(pieces)) as i64;
            let mut piece = self.clone();
            piece.origin[axis] += at(i) * step;
            piece.extents[axis] = at(i + 1) - at(i);
            piece.cut(shape, out);
        }
    }

    fn words(&self, z_start: i64, step: i64) -> Vec<i32> {
        let axes = self.extents.axes();
        let [x, y, z] = self.size();
        let mut words: Vec<i64> = vec![x, y, z, z_start];
        let mut tuple = |values: &dyn Fn(usize) -> i64| {
            for i in 0..4 * vectors(axes) {
                words.push(if i < axes { values(i) } else { 0 });
            }
        };
        tuple(&|axis| self.origin[axis]);
        if axes <= 4 {
            for direction in 0..if axes == 4 { 4 } else { 3 } {
                let along = self.order.get(direction).copied();
                tuple(&|axis| if along == Some(axis) { if axis == 0 { step } else { 1 } } else { 0 });
            }
            if axes == 4 {
                tuple(&|i| if i < 2 { self.extents[self.order[2 + i]] } else { 0 });
            }
        } else {
            tuple(&|k| self.order[k] as i64);
            tuple(&|k| self.extents[self.order[k]]);
        }
        debug_assert_eq!(words.len(), 4 * box_vectors(axes));
        words.into_iter().map(|word| word as i32).collect()
    }
}

/// The dispatches over boxes of invocations: `(first cell, number of invocations along each axis)`. All numbers must fit
/// 31 bits, and no box may be empty.
pub fn dispatches(boxes: &[(Index, Index)], shape: &Shape) -> Vec<Dispatch> {
    let mut blocks = Vec::new();
    for &(origin, extents) in boxes {
        Block::new(origin, extents, boxes.len() == 1).cut(shape, &mut blocks);
    }
    let mut out = Vec::new();
    let mut batch = Batch::default();
    for block in blocks {
        if !batch.takes(&block, shape) {
            out.extend(std::mem::take(&mut batch).finish(shape));
        }
        batch.add(block, shape);
    }
    out.extend(batch.finish(shape));
    out
}

/// Boxes that go into one dispatch.
#[derive(Default)]
struct Batch {
    blocks: Vec<(Block, i64)>,
    /// Of all boxes together, along x and y; along z they stand one after the other.
    size: [i64; 3],
    /// Invocations that have a cell.
    useful: i128,
}

impl Batch {
    fn joined(&self, block: &Block, shape: &Shape) -> [i64; 3] {
        let [x, y, z] = block.size();
        let z_group = i64::from(shape.workgroup[2]);
        [self.size[0].max(x), self.size[1].max(y), round_up(self.size[2] + z, z_group)]
    }

    fn takes(&self, block: &Block, shape: &Shape) -> bool {
        let joined = self.joined(block, shape);
        let volume = |size: [i64; 3]| size.iter().fold(1_i128, |n, &m| n * i128::from(m));
        // Boxes of very different shapes would leave most invocations idle.
        let idle = volume(joined) > 4 * (self.useful + volume(block.size())) + (1 << 16);
        self.blocks.is_empty()
            || (self.blocks.len() < MAX_BOXES
                && joined[2] <= i64::from(shape.workgroup[2]) * i64::from(shape.limit)
                && !idle)
    }

    fn add(&mut self, block: Block, shape: &Shape) {
        let start = self.size[2];
        self.useful += block.size().iter().fold(1_i128, |n, &m| n * i128::from(m));
        self.size = self.joined(&block, shape);
        self.blocks.push((block, start));
    }

    fn finish(self, shape: &Shape) -> Option<Dispatch> {
        let mut words = vec![self.blocks.len() as i32, shape.step as i32, 0, 0];
        for k in 0..MAX_BOXES {
            // What comes after the last box begins beyond everything.
            words.push(self.blocks.get(k + 1).map_or(i32::MAX, |(_, start)| *start as i32));
        }
        for (block, start) in &self.blocks {
            words.extend(block.words(*start, shape.step));
        }
        let groups = std::array::from_fn(|k| {
            let size = i64::from(shape.workgroup[k]);
            (round_up(self.size[k], size) / size) as u32
        });
        (!self.blocks.is_empty()).then_some(Dispatch { words, groups })
    }
}

/// Both positive.
fn round_up(value: i64, to: i64) -> i64 {
    (value + to - 1) / to * to
}
