//! [`BrickedChunk`]: a chunk of the field, divided into bricks, with one layer of samples after it.
//! In kernels: `shaders/field/bricked_chunk.wgsl`.

use zippy::region::Region;

use super::block::{BRICK, Span};

/// Chunk of the field, divided into bricks. Positions count from the chunk's first own sample.
#[derive(Debug, Clone)]
pub struct BrickedChunk {
    /// Position of the first own sample in the field.
    pub start: [i64; 3],
    /// Own samples along each axis.
    pub own: [i64; 3],
    /// Extents with the next samples that cells need, unless the field ends.
    pub reach: [i64; 3],
    /// Bounds of the field, relative to the first own sample.
    field: Span,
    /// Position of the first sample in memory.
    pub storage: [i64; 3],
    own_bricks: [i64; 3],
    /// Bricks along each axis, including the layer after the chunk.
    bricks: [i64; 3],
}

impl BrickedChunk {
    pub fn new(own: &Region, storage: &Region, shape: [i64; 3]) -> Self {
        let axes = |value: &dyn Fn(usize) -> i64| std::array::from_fn(value);
        let start: [i64; 3] = axes(&|axis| own.start[axis]);
        let extents: [i64; 3] = axes(&|axis| own.end[axis] - own.start[axis]);
        let more: [i64; 3] = axes(&|axis| i64::from(own.end[axis] < shape[axis]));
        let own_bricks = axes(&|axis| (extents[axis] + BRICK[axis] as i64 - 1) / BRICK[axis] as i64);
        Self {
            start,
            own: extents,
            reach: axes(&|axis| extents[axis] + more[axis]),
            field: Span { start: start.map(|at| -at), end: axes(&|axis| shape[axis] - start[axis]) },
            storage: axes(&|axis| storage.start[axis] - start[axis]),
            own_bricks,
            bricks: axes(&|axis| own_bricks[axis] + more[axis]),
        }
    }

    /// True if the field has any cells, in this chunk or elsewhere.
    pub fn has_cells(&self) -> bool {
        (0..3).all(|axis| self.field.end[axis] - self.field.start[axis] > 1)
    }

    pub fn bricks(&self) -> [i64; 3] {
        self.bricks
    }

    pub fn own_bricks(&self) -> [i64; 3] {
        self.own_bricks
    }

    pub fn field(&self) -> Span {
        self.field
    }

    pub fn brick_count(&self) -> usize {
        self.bricks.iter().product::<i64>() as usize
    }

    /// Index of a brick, axis 0 fastest.
    pub fn brick_number(&self, at: [i64; 3]) -> usize {
        (at[0] + self.bricks[0] * (at[1] + self.bricks[1] * at[2])) as usize
    }

    pub fn is_own(&self, at: [i64; 3]) -> bool {
        (0..3).all(|axis| at[axis] < self.own_bricks[axis])
    }

    pub fn samples(&self, at: [i64; 3]) -> Span {
        let start: [i64; 3] = std::array::from_fn(|axis| (at[axis] * BRICK[axis] as i64).min(self.own[axis]));
        let end = std::array::from_fn(|axis| {
            let limit = if start[axis] < self.own[axis] { self.own[axis] } else { self.reach[axis] };
            (start[axis] + BRICK[axis] as i64).min(limit)
        });
        Span { start, end }
    }

    /// Brick that holds a sample, and the sample's position in the brick.
    pub fn brick_of(&self, sample: [i64; 3]) -> ([i64; 3], [usize; 3]) {
        let at = std::array::from_fn(|axis| {
            if sample[axis] < self.own[axis] { sample[axis] / BRICK[axis] as i64 } else { self.own_bricks[axis] }
        });
        let start = self.samples(at).start;
        (at, std::array::from_fn(|axis| (sample[axis] - start[axis]) as usize))
    }

    /// Samples of a brick and the adjacent next samples within the reach.
    pub fn with_next(&self, samples: &Span) -> Span {
        let end = std::array::from_fn(|axis| (samples.end[axis] + 1).min(self.reach[axis]));
        Span { start: samples.start, end }
    }

    /// Samples of a brick and the neighbours that gradients need.
    pub fn with_around(&self, samples: &Span) -> Span {
        let start = std::array::from_fn(|axis| (samples.start[axis] - 1).max(self.field.start[axis]));
        let end = std::array::from_fn(|axis| {
            let next = (samples.end[axis] + 1).min(self.reach[axis]);
            (next + 1).min(self.field.end[axis])
        });
        Span { start, end }
    }

    pub fn neighbours(&self, sample: [i64; 3], axis: usize) -> [i64; 2] {
        let at = sample[axis];
        [(at - 1).max(self.field.start[axis]), (at + 1).min(self.field.end[axis] - 1)]
    }

    pub fn in_memory(&self, span: &Span) -> Span {
        let moved = |at: [i64; 3]| std::array::from_fn(|axis| at[axis] - self.storage[axis]);
        Span { start: moved(span.start), end: moved(span.end) }
    }
}
