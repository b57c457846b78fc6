//! The array of populations.

use zippy::array::ChunkRef;
use zippy::kernel::Call;
use zippy::region::Region;
use zippy::{Exchange, GlobalArray, Result, World};

use super::lattice_arrays::{periodic_axes, vector_layout};
use crate::problem::Problem;
use crate::shader::Strides;

/// Populations of a flow, one copy, with the axes x, y, z and slot.
#[derive(Clone)]
pub enum Populations {
    /// One population of 32 bits.
    Single(GlobalArray<f32, 4>),
    /// Two populations of 16 bits in a word, times 2¹⁵. The lower half belongs to a cell in the
    /// first half of the lattice along the fold axis, the upper half to the cell half a lattice
    /// further.
    Half(GlobalArray<u32, 4>),
}

impl Populations {
    pub(super) fn new(world: &World, problem: &Problem, parts: &[Vec<i64>; 3]) -> Result<Self> {
        let name = problem.array_name("populations");
        let layout = vector_layout(problem, parts, problem.set.count());
        match problem.fold_axis() {
            None => world.array(&name, &layout).map(Self::Single),
            Some(fold_axis) => {
                // The first word is next to the last word, with exchanged halves.
                let periodic = periodic_axes(problem);
                let [x, y, z] = [0, 1, 2].map(|axis| axis == fold_axis || periodic[axis]);
                world.array(&name, &layout.periodic([x, y, z, false])).map(Self::Half)
            }
        }
    }

    pub(super) fn add_ghosts(&self, exchange: Exchange) -> Exchange {
        match self {
            Self::Single(f) => exchange.ghosts(f),
            Self::Half(f) => exchange.ghosts(f),
        }
    }

    pub(super) fn chunks(&self) -> Vec<PopulationChunk> {
        match self {
            Self::Single(f) => f.chunks().map(PopulationChunk::Single).collect(),
            Self::Half(f) => f.chunks().map(PopulationChunk::Half).collect(),
        }
    }
}

pub(super) enum PopulationChunk {
    Single(ChunkRef<f32, 4>),
    Half(ChunkRef<u32, 4>),
}

pub(super) struct PopulationBits {
    pub region: Region,
    pub bits: Vec<u32>,
}

impl PopulationChunk {
    pub(super) fn bind_read<'c>(&self, call: Call<'c>) -> Call<'c> {
        match self {
            Self::Single(f) => call.read("f", f.all()),
            Self::Half(f) => call.read("f", f.all()),
        }
    }

    pub(super) fn bind_update<'c>(&self, call: Call<'c>) -> Call<'c> {
        match self {
            Self::Single(f) => call.update("f", f.all()),
            Self::Half(f) => call.update("f", f.all()),
        }
    }

    pub(super) fn region(&self) -> Region {
        match self {
            Self::Single(f) => f.region(),
            Self::Half(f) => f.region(),
        }
    }

    pub(super) fn strides(&self, ghost_widths: [i64; 3]) -> Strides {
        let extents = self.region().extents();
        let [x, y, z] = [0, 1, 2].map(|axis| extents[axis] + 2 * ghost_widths[axis]);
        [x, x * y, x * y * z]
    }

    /// Bits of a slot in one lane of the words.
    pub(super) fn read_bits(&self, slot: i64, lane: i32) -> Result<PopulationBits> {
        match self {
            Self::Single(f) => {
                let section = f.at((.., .., .., slot));
                let bits = section.read()?.into_iter().map(f32::to_bits).collect();
                Ok(PopulationBits { region: section.region()?, bits })
            }
            Self::Half(f) => {
                let section = f.at((.., .., .., slot));
                let half = |word: u32| word >> (16 * lane) & 0xffff;
                let bits = section.read()?.into_iter().map(half).collect();
                Ok(PopulationBits { region: section.region()?, bits })
            }
        }
    }
}
