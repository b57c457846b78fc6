//! A chunk as extraction sees it: its samples, cut into bricks, and one layer of samples that follow.
//! In kernels: `shaders/field/part.wgsl`.

use zippy::region::Region;

use super::block::{BRICK, Span};

/// A chunk of the field. Positions count from its first own sample.
#[derive(Debug, Clone)]
pub struct Part {
    /// Where its first own sample stands in the field.
    pub start: [i64; 3],
    /// Its own samples along each axis.
    pub own: [i64; 3],
    /// Its own samples and the next ones, where the field goes on: what its cells need.
    pub reach: [i64; 3],
    /// From its first own sample back to the first one of the field, and on to the end: where gradients can look.
    field: Span,
    /// Where memory begins.
    pub storage: [i64; 3],
    /// Bricks of own samples.
    own_bricks: [i64; 3],
    /// With those of the samples that follow.
    bricks: [i64; 3],
}

impl Part {
    pub fn new(own: &Region, storage: &Region, shape: [i64; 3]) -> Self {
        let axes = |of: &dyn Fn(usize) -> i64| std::array::from_fn(of);
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

    /// Whether the field has any cells, here or elsewhere.
    pub fn has_cells(&self) -> bool {
        (0..3).all(|axis| self.field.end[axis] - self.field.start[axis] > 1)
    }

    /// All bricks along each axis.
    pub fn bricks(&self) -> [i64; 3] {
        self.bricks
    }

    /// Bricks of own samples along each axis.
    pub fn own_bricks(&self) -> [i64; 3] {
        self.own_bricks
    }

    /// From its first own sample back to the first one of the field, and on to the end.
    pub fn field(&self) -> Span {
        self.field
    }

    /// How many bricks there are.
    pub fn brick_count(&self) -> usize {
        self.bricks.iter().product::<i64>() as usize
    }

    /// The number of a brick, axis 0 fastest.
    pub fn brick_number(&self, at: [i64; 3]) -> usize {
        (at[0] + self.bricks[0] * (at[1] + self.bricks[1] * at[2])) as usize
    }

    /// Whether its samples are the chunk's own.
    pub fn is_own(&self, at: [i64; 3]) -> bool {
        (0..3).all(|axis| at[axis] < self.own_bricks[axis])
    }

    /// The samples of a brick.
    pub fn samples(&self, at: [i64; 3]) -> Span {
        let start: [i64; 3] = std::array::from_fn(|axis| (at[axis] * BRICK[axis] as i64).min(self.own[axis]));
        let end = std::array::from_fn(|axis| {
            let limit = if start[axis] < self.own[axis] { self.own[axis] } else { self.reach[axis] };
            (start[axis] + BRICK[axis] as i64).min(limit)
        });
        Span { start, end }
    }

    /// The brick that has a sample of the reach, and where the sample stands in it.
    pub fn brick_of(&self, sample: [i64; 3]) -> ([i64; 3], [usize; 3]) {
        let at = std::array::from_fn(|axis| {
            if sample[axis] < self.own[axis] { sample[axis] / BRICK[axis] as i64 } else { self.own_bricks[axis] }
        });
        let start = self.samples(at).start;
        (at, std::array::from_fn(|axis| (sample[axis] - start[axis]) as usize))
    }

    /// A brick's samples and those within the reach that follow at once.
    pub fn with_next(&self, samples: &Span) -> Span {
        let end = std::array::from_fn(|axis| (samples.end[axis] + 1).min(self.reach[axis]));
        Span { start: samples.start, end }
    }

    /// A brick's samples and all that gradients at its vertices need.
    pub fn with_around(&self, samples: &Span) -> Span {
        let start = std::array::from_fn(|axis| (samples.start[axis] - 1).max(self.field.start[axis]));
        let end = std::array::from_fn(|axis| {
            let next = (samples.end[axis] + 1).min(self.reach[axis]);
            (next + 1).min(self.field.end[axis])
        });
        Span { start, end }
    }

    /// The neighbours of a sample along an axis that the field has.
    pub fn neighbours(&self, sample: [i64; 3], axis: usize) -> [i64; 2] {
        let at = sample[axis];
        [(at - 1).max(self.field.start[axis]), (at + 1).min(self.field.end[axis] - 1)]
    }

    /// Counted from the first sample in memory.
    pub fn in_memory(&self, span: &Span) -> Span {
        let moved = |at: [i64; 3]| std::array::from_fn(|axis| at[axis] - self.storage[axis]);
        Span { start: moved(span.start), end: moved(span.end) }
    }
}
