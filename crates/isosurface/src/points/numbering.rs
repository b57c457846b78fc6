//! [`Numbering`]: numbers of points that begin at samples, from counts of set bits per brick. In
//! kernels: `shaders/points/numbering.wgsl`.

use crate::field::block::{BRICK, ROWS, row, set_bits};
use crate::field::bricked_chunk::BrickedChunk;

/// Slot of a brick without points.
const NONE: u32 = u32::MAX;

/// Samples at which points begin, as bits by kind (of `K`) and row.
pub(crate) type Words<const K: usize> = [[u32; ROWS]; K];

/// Points of a brick.
pub(crate) struct Brick<const K: usize> {
    pub at: [i64; 3],
    /// Number of the first point, among this rank's own points or among its ghosts.
    pub first: u32,
    pub words: Words<K>,
    /// Number of the brick's points before each row.
    before: [[u16; ROWS]; K],
    /// Number of points that begin at samples.
    pub count: u32,
    /// Number of points that begin at no sample.
    pub further: u32,
}

impl<const K: usize> Brick<K> {
    pub(crate) fn new(at: [i64; 3], first: u32, words: Words<K>, further: u32) -> Self {
        let (mut before, mut count) = ([[0; ROWS]; K], 0);
        for (kind, rows) in words.iter().enumerate() {
            for (row, word) in rows.iter().enumerate() {
                before[kind][row] = count as u16;
                count += word.count_ones();
            }
        }
        Self { at, first, words, before, count, further }
    }

    /// Calls `found` with positions and numbers of the points of a kind in a half-open box,
    /// relative to the brick's first sample; the box may exceed the brick.
    pub(crate) fn within(&self, kind: usize, [low, end]: [[i64; 3]; 2], mut found: impl FnMut([usize; 3], u32)) {
        let [xs, ys, zs] = [0, 1, 2].map(|axis| {
            let most = BRICK[axis] as i64;
            low[axis].clamp(0, most) as usize..end[axis].clamp(0, most) as usize
        });
        for (z, y) in zs.flat_map(|z| ys.clone().map(move |y| (z, y))) {
            let row = row(y, z);
            let word = self.words[kind][row];
            for x in set_bits(word).filter(|x| xs.contains(x)) {
                found([x, y, z], self.first_of_row(kind, row) + (word & ((1 << x) - 1)).count_ones());
            }
        }
    }

    pub(crate) fn first_of_row(&self, kind: usize, row: usize) -> u32 {
        self.first + u32::from(self.before[kind][row])
    }
}

/// Calls `found` with the start and the kind of each point, in the order of numbers. Starts are
/// relative to the brick's first sample.
#[inline]
pub(crate) fn for_each<const K: usize>(words: &Words<K>, mut found: impl FnMut([i64; 3], usize)) {
    for (kind, rows) in words.iter().enumerate() {
        for (row, &word) in rows.iter().enumerate() {
            for x in set_bits(word) {
                found([x, row % BRICK[1], row / BRICK[1]].map(|at| at as i64), kind);
            }
        }
    }
}

/// Direction of each kind of points: bit `axis` is set if a point lies between its first sample and
/// the next along the axis.
pub(crate) type Directions<const K: usize> = [u8; K];

pub(crate) const ON_EDGES: Directions<3> = [1, 2, 4];

/// Points at samples, on grid edges, and on diagonals of faces and cells.
pub(crate) const EVERYWHERE: Directions<8> = [0, 1, 2, 3, 4, 5, 6, 7];

/// Position of the next sample in a direction.
#[inline]
pub(crate) fn along(at: [i64; 3], direction: u8) -> [i64; 3] {
    std::array::from_fn(|axis| at[axis] + i64::from(direction >> axis & 1))
}

/// Numbers of the points of a chunk: first those of own samples, then those of the samples after
/// it.
pub(crate) struct Numbering<const K: usize> {
    pub bricks: Vec<Brick<K>>,
    /// Slot of each brick of the chunk in `bricks`.
    slots: Vec<u32>,
    /// Number of own points.
    pub own: u64,
    pub ghosts: u64,
    /// Number of own points that begin at no sample.
    pub further: u64,
}

impl<const K: usize> Numbering<K> {
    pub(crate) fn new(part: &BrickedChunk, bricks: usize) -> Self {
        Self {
            bricks: Vec::with_capacity(bricks),
            slots: vec![NONE; part.brick_count()],
            own: 0,
            ghosts: 0,
            further: 0,
        }
    }

    /// Adds a brick with points and `further` points that begin at no sample. Own bricks come
    /// before all others.
    pub(crate) fn add(&mut self, part: &BrickedChunk, at: [i64; 3], words: Words<K>, further: u32) {
        let mut brick = Brick::new(at, 0, words, further);
        brick.first = self.count(part, at, brick.count, further);
        self.put(part, brick);
    }

    /// Counts the points of a brick, and returns the number of the first point.
    pub(crate) fn count(&mut self, part: &BrickedChunk, at: [i64; 3], count: u32, further: u32) -> u32 {
        let numbers = if part.is_own(at) { &mut self.own } else { &mut self.ghosts };
        // An overflow is reported as an error before any number is used.
        let first = *numbers as u32;
        *numbers += u64::from(count) + u64::from(further);
        self.further += u64::from(further);
        first
    }

    /// Stores a brick whose points have been counted.
    pub(crate) fn put(&mut self, part: &BrickedChunk, brick: Brick<K>) {
        self.slots[part.brick_number(brick.at)] = self.bricks.len() as u32;
        self.bricks.push(brick);
    }

    pub(crate) fn brick(&self, part: &BrickedChunk, at: [i64; 3]) -> Option<&Brick<K>> {
        self.bricks.get(*self.slots.get(part.brick_number(at))? as usize)
    }
}
