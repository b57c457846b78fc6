//! Samples of a brick and around it, as `f32`.

use std::ops::Range;

use crate::sample::Sample;

/// Samples of a brick along each axis. One row of samples is one word of bits.
pub(crate) const BRICK: [usize; 3] = [32, 4, 4];

pub(crate) const ROWS: usize = BRICK[1] * BRICK[2];

/// Row index of a position in a brick.
pub(crate) const fn row(y: usize, z: usize) -> usize {
    z * BRICK[1] + y
}

pub(crate) fn set_bits(mut word: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < u32::BITS).then_some(bit as usize)
    })
}

/// One sample before a brick and two after it: one for cells, the others for gradients.
const STORED: [usize; 3] = [BRICK[0] + 3, BRICK[1] + 3, BRICK[2] + 3];

/// Box of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub start: [i64; 3],
    pub end: [i64; 3],
}

impl Span {
    pub fn extents(&self) -> [i64; 3] {
        std::array::from_fn(|axis| self.end[axis] - self.start[axis])
    }
}

/// Samples of a brick and around it. Positions count from the brick's first sample.
pub struct Block {
    values: Vec<f32>,
}

impl Block {
    pub fn new() -> Self {
        Self { values: vec![0.0; STORED.iter().product()] }
    }

    fn index(x: i64, y: i64, z: i64) -> usize {
        (((z + 1) as usize * STORED[1]) + (y + 1) as usize) * STORED[0] + (x + 1) as usize
    }

    pub fn at(&self, [x, y, z]: [i64; 3]) -> f32 {
        self.values[Self::index(x, y, z)]
    }

    pub fn row(&self, x: Range<i64>, y: i64, z: i64) -> &[f32] {
        &self.values[Self::index(x.start, y, z)..Self::index(x.end, y, z)]
    }

    /// Fills a box row by row: `fill` receives the start of a row relative to the box, and the row.
    #[inline]
    pub fn fill(&mut self, first: [i64; 3], span: Span, fill: impl Fn([i64; 3], &mut [f32])) {
        let count = (span.end[0] - span.start[0]) as usize;
        for z in span.start[2]..span.end[2] {
            for y in span.start[1]..span.end[1] {
                let to = Self::index(span.start[0] - first[0], y - first[1], z - first[2]);
                fill([span.start[0], y, z], &mut self.values[to..to + count]);
            }
        }
    }
}

/// Source of samples: memory, or a computation.
pub trait Samples {
    /// Fills the block with a box of samples; `first` is the brick's first sample. Positions count
    /// from the first sample in memory.
    fn load(&self, first: [i64; 3], span: Span, block: &mut Block);
}

/// Samples of one type in memory.
pub(crate) struct Slice<'a, T> {
    pub cells: &'a [T],
    pub strides: [usize; 3],
}

impl<T: Sample> Samples for Slice<'_, T> {
    fn load(&self, first: [i64; 3], span: Span, block: &mut Block) {
        block.fill(first, span, |start, row| {
            let from: usize = start.iter().zip(self.strides).map(|(&at, stride)| at as usize * stride).sum();
            let cells: &[T] = &self.cells[from..from + row.len()];
            row.iter_mut().zip(cells).for_each(|(value, cell)| *value = cell.value());
        });
    }
}
