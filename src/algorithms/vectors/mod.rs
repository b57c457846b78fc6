//! [`Vectors`]: data-parallel primitives over 1-D global arrays.

mod arrange;
mod spans;
mod vector;

pub(super) use self::spans::{Fitted, Span, array, fitted, in_blocks, in_order_of_ranks, local_cells, ordered, spans};

pub use self::vector::{IntoVector, Vector};

use crate::World;
use crate::error::Result;
use crate::region::Region;
use crate::world::{ArrayIdentity, Collective};

/// Data-parallel primitives over distributed vectors: 1-D global arrays with any cuts and owners,
/// or sections of such arrays. From [`World::vectors`].
///
/// All are collective: every rank passes the same vectors. Results have the same bits for every
/// number of ranks and every cut.
#[derive(Clone, Copy)]
pub struct Vectors<'w> {
    world: &'w World,
}

impl World {
    /// Data-parallel primitives over distributed vectors: scans, sorts and others. This call itself
    /// is local.
    pub fn vectors(&self) -> Vectors<'_> {
        Vectors { world: self }
    }
}

impl<'w> Vectors<'w> {
    pub(super) fn world(&self) -> &'w World {
        self.world
    }

    /// Runs a primitive as a collective over these vectors. `argument` is a fingerprint of the
    /// other arguments that must be equal on all ranks.
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
