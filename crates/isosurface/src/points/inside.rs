//! [`Inside`]: inside samples of a brick, and the edges and cells that a surface crosses, as bits;
//! one word per row of samples. In kernels: `shaders/points/inside.wgsl`.

use super::numbering::{Directions, Words};
use crate::field::block::{BRICK, Block, ROWS, Span, row};

/// Inside samples of a brick and of the next samples, as bits.
pub(crate) struct Inside {
    rows: [[u32; BRICK[1] + 1]; BRICK[2] + 1],
    /// The sample after each row.
    after_row: [u8; BRICK[2] + 1],
    /// Own samples of the brick along each axis.
    own: [u8; 3],
    /// Samples along each axis, including the next samples.
    all: [u8; 3],
}

const fn lowest(count: usize) -> u64 {
    (1 << count) - 1
}

impl Inside {
    /// Compares the samples of a brick; NaN is outside.
    pub(crate) fn new(block: &Block, own: &Span, with_next: &Span, isovalue: f32) -> Self {
        let [own, all] = [own, with_next].map(|span| span.extents().map(|count| count as usize));
        let (mut rows, mut after_row) = ([[0; BRICK[1] + 1]; BRICK[2] + 1], [0; BRICK[2] + 1]);
        for (z, plane) in rows.iter_mut().enumerate().take(all[2]) {
            for (y, row) in plane.iter_mut().enumerate().take(all[1]) {
                let bits = bits(block.row(0..all[0] as i64, y as i64, z as i64), isovalue);
                *row = bits as u32;
                after_row[z] |= ((bits >> BRICK[0]) as u8) << y;
            }
        }
        Self { rows, after_row, own: own.map(|count| count as u8), all: all.map(|count| count as u8) }
    }

    /// A row and the sample after it, as bits.
    fn row(&self, y: usize, z: usize) -> u64 {
        u64::from(self.rows[z][y]) | u64::from(self.after_row[z] >> y & 1) << BRICK[0]
    }

    fn extents(&self) -> [[usize; 3]; 2] {
        [self.own, self.all].map(|extents| extents.map(usize::from))
    }

    /// Samples, per direction and row, whose neighbour in this direction is on the other side.
    #[inline]
    pub(crate) fn crossed<const K: usize>(&self, directions: Directions<K>) -> Words<K> {
        let mut crossed = [[0; ROWS]; K];
        let [own, all] = self.extents();
        for z in 0..own[2] {
            for y in 0..own[1] {
                let bits = self.row(y, z);
                for (kind, direction) in directions.into_iter().enumerate() {
                    let [i, j, k] = [0, 1, 2].map(|axis| usize::from(direction >> axis & 1));
                    if y + j < all[1] && z + k < all[2] {
                        let other = self.row(y + j, z + k) >> i;
                        crossed[kind][row(y, z)] = ((bits ^ other) & lowest(all[0] - i) & lowest(own[0])) as u32;
                    }
                }
            }
        }
        crossed
    }

    /// Own inside samples, by row.
    pub(crate) fn samples(&self) -> [u32; ROWS] {
        let mut samples = [0; ROWS];
        let [own, _] = self.extents();
        for z in 0..own[2] {
            for y in 0..own[1] {
                samples[row(y, z)] = (self.row(y, z) & lowest(own[0])) as u32;
            }
        }
        samples
    }

    /// Exchanges outside and inside.
    pub(crate) fn reversed(mut self) -> Self {
        let [_, all] = self.extents();
        for z in 0..all[2] {
            for y in 0..all[1] {
                self.rows[z][y] = !self.rows[z][y] & lowest(all[0].min(BRICK[0])) as u32;
            }
            let after_row = if all[0] > BRICK[0] { lowest(all[1]) as u8 } else { 0 };
            self.after_row[z] = !self.after_row[z] & after_row;
        }
        self
    }

    /// Cells that the surface crosses, by row; a cell begins at an own sample.
    pub(crate) fn cells(&self) -> [u32; ROWS] {
        self.cells_where(|any, every| any & !every)
    }

    /// Cells whose corners are all inside.
    pub(crate) fn whole_cells(&self) -> [u32; ROWS] {
        self.cells_where(|_, every| every)
    }

    /// Cells by row, selected from the bits of cells with any and with all corners inside.
    #[inline]
    fn cells_where(&self, wanted: impl Fn(u64, u64) -> u64) -> [u32; ROWS] {
        let mut cells = [0; ROWS];
        let [own, all] = self.extents();
        for z in 0..own[2].min(all[2] - 1) {
            for y in 0..own[1].min(all[1] - 1) {
                let four = [self.row(y, z), self.row(y + 1, z), self.row(y, z + 1), self.row(y + 1, z + 1)];
                let (any, every) = four.iter().fold((0, u64::MAX), |(any, every), bits| (any | bits, every & bits));
                let found = wanted(any | any >> 1, every & every >> 1);
                cells[row(y, z)] = (found & lowest(all[0] - 1) & lowest(own[0])) as u32;
            }
        }
        cells
    }

    /// Case of the cell that begins at a sample.
    pub(crate) fn case(&self, [x, y, z]: [usize; 3]) -> u8 {
        let two = |y: usize, z: usize| (self.row(y, z) >> x & 3) as u8;
        two(y, z) | two(y + 1, z) << 2 | two(y, z + 1) << 4 | two(y + 1, z + 1) << 6
    }
}

/// Bits of the samples of a row that equal or exceed the isovalue.
fn bits(row: &[f32], isovalue: f32) -> u64 {
    let Some((first, rest)) = row.split_first_chunk::<{ BRICK[0] }>() else {
        return row.iter().enumerate().fold(0, |bits, (x, &value)| bits | u64::from(value >= isovalue) << x);
    };
    // A fixed length lets the compiler vectorise.
    let mut lanes = [0_u32; BRICK[0]];
    for (x, lane) in lanes.iter_mut().enumerate() {
        *lane = if first[x] >= isovalue { 1 << x } else { 0 };
    }
    let word = lanes.iter().fold(0, |bits, lane| bits | lane);
    let last = rest.first().is_some_and(|&value| value >= isovalue);
    u64::from(word) | u64::from(last) << BRICK[0]
}
