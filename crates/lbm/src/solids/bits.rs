//! Solid cells as bits.

use std::ops::Range;
use std::sync::Arc;

use zippy::error::CallSite;
use zippy::{Result, World};

use super::coverage::Coverage;
use super::room::Room;
use crate::error::FlowError;

/// Cells of a box at most: 8 GiB of bits.
const MOST: i64 = 1 << 36;

/// Solid cells: a bit for each cell of the box around them. Cheap to clone. Every rank has the same one.
#[derive(Debug, Clone, PartialEq)]
pub struct Solid {
    start: [i64; 3],
    extents: [i64; 3],
    words: Arc<[u64]>,
    cells: u64,
    /// After how many cells it repeats along each axis.
    periods: [Option<i64>; 3],
    warnings: Arc<[String]>,
    coverage: Option<Coverage>,
}

impl Solid {
    /// The cells of a box, given by its first cell and how many it has along each axis, that a function says are solid. It is
    /// called on one rank for each cell, so that it may cost something. Collective.
    ///
    /// # Errors
    /// No memory for the bits; a failure of this or of another rank.
    #[track_caller]
    pub fn of(world: &World, start: [i64; 3], extents: [i64; 3], inside: impl Fn([i64; 3]) -> bool) -> Result<Self> {
        let _call = CallSite::enter();
        let [nx, ny, nz] = extents.map(|n| n.max(0));
        let draft = Draft::new(start, [nx, ny, nz]).map_err(Into::into);
        let mut draft = world.agree("making room for a solid", draft)?;
        for row in share(world, ny * nz) {
            let (y, z) = (row % ny.max(1), row / ny.max(1));
            for x in 0..nx {
                if inside([start[0] + x, start[1] + y, start[2] + z]) {
                    draft.set([x, y, z]);
                }
            }
        }
        draft.shared(world)
    }

    /// Whether a cell is solid; those beyond its box are not, except images in a periodic one.
    pub fn contains(&self, place: [i64; 3]) -> bool {
        let images = |axis: usize| {
            let at = place[axis] - self.start[axis];
            match self.periods[axis] {
                None => (at..at + 1).step_by(1),
                Some(period) => (at.rem_euclid(period)..self.extents[axis]).step_by(period as usize),
            }
        };
        images(2).any(|z| images(1).any(|y| images(0).any(|x| self.bit([x, y, z]))))
    }

    /// Whether a cell is solid; images do not count.
    pub(super) fn contains_unwrapped(&self, place: [i64; 3]) -> bool {
        self.bit(std::array::from_fn(|axis| place[axis] - self.start[axis]))
    }

    /// Whether a cell, counted from the first one of its box, is solid.
    fn bit(&self, at: [i64; 3]) -> bool {
        (0..3).all(|axis| (0..self.extents[axis]).contains(&at[axis])) && {
            let bit = index(self.extents, at);
            self.words[bit / 64] >> (bit % 64) & 1 == 1
        }
    }

    /// Its box: the first cell, and cells along each axis.
    pub(super) fn window(&self) -> [[i64; 3]; 2] {
        [self.start, self.extents]
    }

    /// The same in a room, with its images.
    pub(super) fn placed_in(self, room: &Room, mut warnings: Vec<String>, coverage: Option<Coverage>) -> Self {
        warnings.extend(coverage.as_ref().and_then(Coverage::warning));
        Self { periods: room.periods(), warnings: warnings.into(), coverage, ..self }
    }

    /// Parts of the shape that its cells do not have: cut off by a side of the box, or thinner than
    /// a cell.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How much of a surface its cells show; `None` for other shapes.
    pub fn coverage(&self) -> Option<&Coverage> {
        self.coverage.as_ref()
    }

    /// [`contains`](Self::contains) as [`Problem::body`](crate::Problem::body) takes it.
    pub fn inside(&self) -> impl Fn([i64; 3]) -> bool + 'static {
        let solid = self.clone();
        move |place| solid.contains(place)
    }

    /// How many cells are solid.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// The mean place of solid cells.
    pub fn middle(&self) -> [f64; 3] {
        let mut sums = [0_i128; 3];
        for place in self.places() {
            (0..3).for_each(|axis| sums[axis] += i128::from(place[axis]));
        }
        sums.map(|sum| sum as f64 / self.cells.max(1) as f64)
    }

    /// The cells along each axis from the first one that is solid to the last one; empty where there are none.
    pub fn bounds(&self) -> [Range<i64>; 3] {
        let mut bounds: [Range<i64>; 3] = Default::default();
        for place in self.places() {
            for (range, &x) in bounds.iter_mut().zip(&place) {
                *range = if range.is_empty() { x..x + 1 } else { range.start.min(x)..range.end.max(x + 1) };
            }
        }
        bounds
    }

    /// How many cells have no solid neighbour above them along each axis: the projected areas of
    /// the solid, in cells².
    pub(super) fn faces(&self) -> [u64; 3] {
        let mut faces = [0; 3];
        for place in self.places() {
            for (axis, faces) in faces.iter_mut().enumerate() {
                let mut above = place;
                above[axis] += 1;
                *faces += u64::from(!self.contains_unwrapped(above));
            }
        }
        faces
    }

    /// How many lines along an axis meet a solid cell: the area that a stream along it sees, in cells².
    ///
    /// # Panics
    /// If `axis` is above 2.
    pub fn shadow(&self, axis: usize) -> u64 {
        let mut across = self.extents;
        across[axis] = 1;
        let mut seen = vec![false; across.iter().product::<i64>() as usize];
        for place in self.places() {
            let mut at: [i64; 3] = std::array::from_fn(|axis| place[axis] - self.start[axis]);
            at[axis] = 0;
            seen[index(across, at)] = true;
        }
        seen.into_iter().filter(|&seen| seen).count() as u64
    }

    /// Solid cells.
    fn places(&self) -> impl Iterator<Item = [i64; 3]> {
        let bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
        let all =
            self.words.iter().enumerate().flat_map(move |(k, &word)| bits(word).map(move |bit| 64 * k as i64 + bit));
        let ([x0, y0, z0], [nx, ny, _]) = (self.start, self.extents);
        all.map(move |bit| [x0 + bit % nx, y0 + bit / nx % ny, z0 + bit / nx / ny])
    }
}

fn index([nx, ny, _]: [i64; 3], [x, y, z]: [i64; 3]) -> usize {
    ((z * ny + y) * nx + x) as usize
}

/// A rank's share of so many things: as many as others have, or one more.
pub fn share(world: &World, count: i64) -> Range<i64> {
    let (rank, size) = (world.rank() as i128, world.size() as i128);
    let part = |rank: i128| (i128::from(count) * rank / size) as i64;
    part(rank)..part(rank + 1)
}

/// What a rank has found.
pub struct Draft {
    start: [i64; 3],
    extents: [i64; 3],
    words: Vec<u64>,
}

impl Draft {
    /// Nothing yet.
    ///
    /// # Errors
    /// No memory.
    pub fn new(start: [i64; 3], extents: [i64; 3]) -> std::result::Result<Self, FlowError> {
        let cells = extents.iter().try_fold(1_i64, |product, &n| product.checked_mul(n)).filter(|&cells| cells <= MOST);
        let mut words = Vec::new();
        let length =
            cells.map(|cells| (cells as usize).div_ceil(64)).filter(|&length| words.try_reserve_exact(length).is_ok());
        let Some(length) = length else {
            let wrong = format!("a box of {extents:?} cells around it is more than there is memory for, a bit a cell");
            return Err(FlowError::Solid(wrong));
        };
        words.resize(length, 0);
        Ok(Self { start, extents, words })
    }

    /// A copy of the known cells.
    pub fn of(solid: &Solid) -> Self {
        Self { start: solid.start, extents: solid.extents, words: solid.words.to_vec() }
    }

    /// A cell, counted from the first one of the box, is solid.
    pub fn set(&mut self, at: [i64; 3]) {
        let bit = index(self.extents, at);
        self.words[bit / 64] |= 1 << (bit % 64);
    }

    /// What all ranks have found. Collective.
    pub fn shared(mut self, world: &World) -> Result<Solid> {
        world.group().all_reduce(&mut self.words, |one, other| *one |= *other)?;
        let cells = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        let [start, extents] = [self.start, self.extents];
        let (periods, warnings, coverage) = ([None; 3], Arc::new([]), None);
        Ok(Solid { start, extents, words: self.words.into(), cells, periods, warnings, coverage })
    }
}
