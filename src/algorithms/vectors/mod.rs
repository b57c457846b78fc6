//! [`Vectors`]: data-parallel primitives over 1-D global arrays.

mod arrange;
mod cut;
mod vector;

pub(super) use self::cut::{Fitted, Span, array, fitted, in_blocks, in_order_of_ranks, ordered, own_cells, spans};

pub use self::vector::{IntoVector, Vector};

use crate::World;
use crate::error::Result;
use crate::region::Region;
use crate::world::{ArrayIdentity, Collective};

/// Data-parallel primitives over distributed vectors, which are 1-D global arrays of any cut and any owners, or sections of
/// them. From [`World::vectors`].
///
/// All are collective: every rank names the same vectors. Results have the same bits for every number of ranks and every
/// cut.
#[derive(Clone, Copy)]
pub struct Vectors<'w> {
    world: &'w World,
}

impl World {
    /// Data-parallel primitives over distributed vectors: scans, sorts and the like. Local itself.
    pub fn vectors(&self) -> Vectors<'_> {
        Vectors { world: self }
    }
}

impl<'w> Vectors<'w> {
    pub(super) fn world(&self) -> &'w World {
        self.world
    }

    /// Runs a primitive as a collective of its own name over these vectors. `argument` is what else must agree.
    pub(super) fn collective<R>(
        &self,
        verb: &'static str,
        vectors: Vec<(ArrayIdentity, Option<Region>)>,
        argument: impl std::hash::Hash,
        f: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let call = Collective::new(verb).also_compare(argument);
        let call = vectors.into_iter().fold(call, |call, (array, region)| call.array(array, region));
        self.world.collective(call.clone(), call.signature(), f)
    }
}
