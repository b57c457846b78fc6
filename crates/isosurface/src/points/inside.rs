//! [`Inside`]: which samples of a brick are inside, and so which of its edges and cells a surface crosses, as bits: a row
//! of samples is a word. In kernels: `shaders/points/inside.wgsl`.

use super::numbering::{Directions, Words};
use crate::field::block::{BRICK, Block, ROWS, Span, row};

/// Which samples of a brick, and of those that follow, are inside.
pub struct Inside {
    rows: [[u32; BRICK[1] + 1]; BRICK[2] + 1],
    /// The sample behind each row.
    behind: [u8; BRICK[2] + 1],
    /// Own samples of the brick.
    own: [u8; 3],
    /// With those that follow.
    all: [u8; 3],
}

const fn lowest(count: usize) -> u64 {
    (1 << count) - 1
}

impl Inside {
    /// Compares the samples of a brick; one that is no number is outside.
    pub fn new(block: &Block, own: &Span, with_next: &Span, isovalue: f32) -> Self {
        let [own, all] = [own, with_next].map(|span| span.extents().map(|count| count as usize));
        let (mut rows, mut behind) = ([[0; BRICK[1] + 1]; BRICK[2] + 1], [0; BRICK[2] + 1]);
        for (z, plane) in rows.iter_mut().enumerate().take(all[2]) {
            for (y, row) in plane.iter_mut().enumerate().take(all[1]) {
                let bits = bits(block.row(0..all[0] as i64, y as i64, z as i64), isovalue);
                *row = bits as u32;
                behind[z] |= ((bits >> BRICK[0]) as u8) << y;
            }
        }
        Self { rows, behind, own: own.map(|count| count as u8), all: all.map(|count| count as u8) }
    }

    /// A row and the sample behind it.
    fn row(&self, y: usize, z: usize) -> u64 {
        u64::from(self.rows[z][y]) | u64::from(self.behind[z] >> y & 1) << BRICK[0]
    }

    fn extents(&self) -> [[usize; 3]; 2] {
        [self.own, self.all].map(|extents| extents.map(usize::from))
    }

    /// The samples from which the one in a direction is on the other side, row by row, for each direction.
    #[inline]
    pub fn crossed<const K: usize>(&self, directions: Directions<K>) -> Words<K> {
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

    /// The own samples that are inside, row by row.
    pub fn samples(&self) -> [u32; ROWS] {
        let mut samples = [0; ROWS];
        let [own, _] = self.extents();
        for z in 0..own[2] {
            for y in 0..own[1] {
                samples[row(y, z)] = (self.row(y, z) & lowest(own[0])) as u32;
            }
        }
        samples
    }

    /// With outside and inside exchanged.
    pub fn reversed(mut self) -> Self {
        let [_, all] = self.extents();
        for z in 0..all[2] {
            for y in 0..all[1] {
                self.rows[z][y] = !self.rows[z][y] & lowest(all[0].min(BRICK[0])) as u32;
            }
            let behind = if all[0] > BRICK[0] { lowest(all[1]) as u8 } else { 0 };
            self.behind[z] = !self.behind[z] & behind;
        }
        self
    }

    /// The cells that the surface crosses, row by row; a cell begins at an own sample.
    pub fn cells(&self) -> [u32; ROWS] {
        self.cells_where(|any, every| any & !every)
    }

    /// The cells whose corners are all inside.
    pub fn whole_cells(&self) -> [u32; ROWS] {
        self.cells_where(|_, every| every)
    }

    /// The cells of a row are those of `wanted`, of which any corners, and all, are inside.
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

    /// The case of the cell that begins at a sample.
    pub fn case(&self, [x, y, z]: [usize; 3]) -> u8 {
        let two = |y: usize, z: usize| (self.row(y, z) >> x & 3) as u8;
        two(y, z) | two(y + 1, z) << 2 | two(y, z + 1) << 4 | two(y + 1, z + 1) << 6
    }
}

/// A bit for each sample of a row that is not below the isovalue.
fn bits(row: &[f32], isovalue: f32) -> u64 {
    let Some((first, rest)) = row.split_first_chunk::<{ BRICK[0] }>() else {
        return row.iter().enumerate().fold(0, |bits, (x, &value)| bits | u64::from(value >= isovalue) << x);
    };
    // Of a fixed length, so that the compiler uses vector instructions.
    let mut lanes = [0_u32; BRICK[0]];
    for (x, lane) in lanes.iter_mut().enumerate() {
        *lane = if first[x] >= isovalue { 1 << x } else { 0 };
    }
    let word = lanes.iter().fold(0, |bits, lane| bits | lane);
    let last = rest.first().is_some_and(|&value| value >= isovalue);
    u64::from(word) | u64::from(last) << BRICK[0]
}
