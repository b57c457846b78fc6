//! The samples of a brick and around it, as `f32`.

use std::ops::Range;

use crate::sample::Sample;

/// Samples of a brick along each axis, at most. A row of them is a word of bits.
pub const BRICK: [usize; 3] = [32, 4, 4];

/// Rows of a brick.
pub const ROWS: usize = BRICK[1] * BRICK[2];

/// The row of a position in a brick.
pub const fn row(y: usize, z: usize) -> usize {
    z * BRICK[1] + y
}

/// The places of the set bits of a word.
pub fn places(mut word: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (place < u32::BITS).then_some(place as usize)
    })
}

/// One sample before a brick and two behind it: its cells need one behind, gradients at its vertices the rest.
const STORED: [usize; 3] = [BRICK[0] + 3, BRICK[1] + 3, BRICK[2] + 3];

/// A box of samples.
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

/// The samples of a brick and around it. Positions count from the brick's first sample.
pub struct Block {
    values: Vec<f32>,
}

impl Block {
    pub fn new() -> Self {
        Self { values: vec![0.0; STORED.iter().product()] }
    }

    fn place(x: i64, y: i64, z: i64) -> usize {
        (((z + 1) as usize * STORED[1]) + (y + 1) as usize) * STORED[0] + (x + 1) as usize
    }

    /// The sample at a position.
    pub fn at(&self, [x, y, z]: [i64; 3]) -> f32 {
        self.values[Self::place(x, y, z)]
    }

    /// Samples of a row.
    pub fn row(&self, x: Range<i64>, y: i64, z: i64) -> &[f32] {
        &self.values[Self::place(x.start, y, z)..Self::place(x.end, y, z)]
    }

    /// Takes the samples of a box, row by row: `fill` gets where a row begins, counted like the box, and the row.
    #[inline]
    pub fn fill(&mut self, first: [i64; 3], of: Span, fill: impl Fn([i64; 3], &mut [f32])) {
        let count = (of.end[0] - of.start[0]) as usize;
        for z in of.start[2]..of.end[2] {
            for y in of.start[1]..of.end[1] {
                let to = Self::place(of.start[0] - first[0], y - first[1], z - first[2]);
                fill([of.start[0], y, z], &mut self.values[to..to + count]);
            }
        }
    }
}

/// Samples in memory, or as if they were.
pub trait Samples {
    /// Fills the block with the samples of a box, which counts from the first one in memory; `first` is the brick's first
    /// sample.
    fn load(&self, first: [i64; 3], of: Span, block: &mut Block);
}

/// Samples of one type.
pub struct Slice<'a, T> {
    pub cells: &'a [T],
    pub strides: [usize; 3],
}

impl<T: Sample> Samples for Slice<'_, T> {
    fn load(&self, first: [i64; 3], of: Span, block: &mut Block) {
        block.fill(first, of, |start, row| {
            let from: usize = start.iter().zip(self.strides).map(|(&at, stride)| at as usize * stride).sum();
            let cells: &[T] = &self.cells[from..from + row.len()];
            row.iter_mut().zip(cells).for_each(|(value, cell)| *value = cell.value());
        });
    }
}
