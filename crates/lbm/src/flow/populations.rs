//! Where the populations are: one array, whatever a word of it is.

use zippy::kernel::Call;
use zippy::region::Region;
use zippy::{Exchange, GlobalArray, Ownership, Result, World};

use super::vectors;
use crate::problem::Problem;

/// The populations of a flow, one copy: x, y, z and slot.
#[derive(Clone)]
pub enum Populations {
    /// A number of 32 bits each.
    Single(GlobalArray<f32, 4>),
    /// Two halves of 16 bits in a word, multiplied by 2^15: the lower one of a cell in the first half of the lattice, the
    /// upper one of the cell half the lattice further along the axis that has half its extent here.
    Half(GlobalArray<u32, 4>),
}

impl Populations {
    pub(super) fn new(world: &World, problem: &Problem, parts: &[Vec<i64>; 3]) -> Result<Self> {
        let (name, layout) = (problem.array_name("populations"), vectors(problem, parts, problem.set.count()));
        match problem.fold() {
            None => world.array(&name, &layout).map(Self::Single),
            Some(axis) => {
                // What is behind the last word is before the first one, and the other way round.
                let periodic = [0, 1, 2].map(|other| other == axis || super::periodic(problem)[other]);
                let [x, y, z] = periodic;
                world.array(&name, &layout.periodic([x, y, z, false])).map(Self::Half)
            }
        }
    }

    pub(super) fn ghosts(&self, exchange: Exchange) -> Exchange {
        match self {
            Self::Single(f) => exchange.ghosts(f),
            Self::Half(f) => exchange.ghosts(f),
        }
    }

    /// The chunks of this rank. Local.
    pub(super) fn chunks(&self) -> Vec<Words> {
        match self {
            Self::Single(f) => f.chunks().map(Words::Single).collect(),
            Self::Half(f) => f.chunks().map(Words::Half).collect(),
        }
    }
}

/// A chunk of populations.
pub enum Words {
    Single(zippy::array::ChunkRef<f32, 4>),
    Half(zippy::array::ChunkRef<u32, 4>),
}

impl Words {
    /// Gives them to a kernel that reads them as `f`.
    pub fn read<'c>(&self, call: Call<'c>) -> Call<'c> {
        match self {
            Self::Single(f) => call.read("f", f.all()),
            Self::Half(f) => call.read("f", f.all()),
        }
    }

    /// Gives them to a kernel that reads and writes them as `f`.
    pub fn update<'c>(&self, call: Call<'c>) -> Call<'c> {
        match self {
            Self::Single(f) => call.update("f", f.all()),
            Self::Half(f) => call.update("f", f.all()),
        }
    }

    fn region(&self) -> Region {
        match self {
            Self::Single(f) => f.region(),
            Self::Half(f) => f.region(),
        }
    }

    /// How far apart the next cells along y and z and the next slot are, in words.
    pub fn strides(&self, ghost: [i64; 3]) -> [i64; 3] {
        let extents = self.region().extents();
        let [x, y, z] = [0, 1, 2].map(|axis| extents[axis] + 2 * ghost[axis]);
        [x, x * y, x * y * z]
    }

    /// The bits of a slot's populations in one lane, and where the words are.
    pub fn bits(&self, slot: i64, lane: i32) -> Result<(Region, Vec<u32>)> {
        match self {
            Self::Single(f) => {
                let section = f.at((.., .., .., slot));
                Ok((section.region()?, section.read()?.into_iter().map(f32::to_bits).collect()))
            }
            Self::Half(f) => {
                let section = f.at((.., .., .., slot));
                let half = |word: u32| word >> (16 * lane) & 0xffff;
                Ok((section.region()?, section.read()?.into_iter().map(half).collect()))
            }
        }
    }
}

/// Where the populations of a chunk of the lattice are: all the words of a chunk, or one half of each.
#[derive(Debug, Clone, Copy)]
pub struct Lane {
    /// The number of the words' chunk among those of this rank.
    pub words: usize,
    /// The half of a word.
    pub lane: i32,
    /// The first and the last word of the axis that is folded, counted in the chunk.
    pub ends: [i32; 2],
    /// How far its cells are from the words, in cells along each axis.
    pub offset: [i64; 3],
    /// The first word.
    pub origin: [i32; 3],
    /// The first cell, counted in the box along the axis with open sides.
    pub layer: i32,
}

/// The parts of the lattice, in cells: of words with two cells, twice as many along the axis that is folded.
pub fn parts_in_cells(problem: &Problem, words: &[Vec<i64>; 3]) -> [Vec<i64>; 3] {
    let twice = |axis| if problem.fold() == Some(axis) { 2 } else { 1 };
    std::array::from_fn(|axis| words[axis].repeat(twice(axis)))
}

/// Who owns the chunks of arrays of the lattice: who owns the words.
pub fn ownership(world: &World, problem: &Problem, words: &[Vec<i64>; 3]) -> Result<Ownership> {
    let counts = [0, 1, 2].map(|axis| words[axis].len());
    let all = Ownership::balanced(counts.iter().product(), world.size());
    let in_cells = parts_in_cells(problem, words);
    let [nx, ny, nz] = [0, 1, 2].map(|axis| in_cells[axis].len());
    let mut table = Vec::with_capacity(nx * ny * nz);
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let [x, y, z] = [x % counts[0], y % counts[1], z % counts[2]];
                table.push(all.owner(x + counts[0] * (y + counts[1] * z)).rank);
            }
        }
    }
    Ownership::table(table, world.size()).map_err(Into::into)
}

/// Where the populations of each of this rank's chunks of the lattice are.
pub fn lanes(problem: &Problem, words: &[Words], cells: &[Region]) -> Vec<Lane> {
    let layer = |region: &Region| problem.sponge().map_or(0, |sponge| (region.start[sponge.axis] - 1) as i32);
    let Some(axis) = problem.fold() else {
        let alone = |(words, region)| {
            let layer = layer(region);
            Lane { words, lane: 0, ends: [-1; 2], offset: [0; 3], origin: [0; 3], layer }
        };
        return cells.iter().enumerate().map(alone).collect();
    };
    let half = problem.words()[axis];
    let lane = |region: &Region| {
        let lane = i32::from(region.start[axis] >= half);
        let mut offset = [0; 3];
        offset[axis] = i64::from(lane) * half;
        let of = |words: &Words| (0..3).all(|axis| words.region().start[axis] + offset[axis] == region.start[axis]);
        let words = words.iter().position(of)?;
        let before = region.start[axis] - offset[axis];
        let origin = std::array::from_fn(|axis| (region.start[axis] - offset[axis]) as i32);
        let ends = [-before as i32, (half - 1 - before) as i32];
        Some(Lane { words, lane, ends, offset, origin, layer: layer(region) })
    };
    cells.iter().filter_map(lane).collect()
}
