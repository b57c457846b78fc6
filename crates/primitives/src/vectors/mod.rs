//! [`Vectors`]: data-parallel primitives over 1-D global arrays.

mod arrange;
mod spans;
mod vector;
mod vector_cells;

pub(super) use self::spans::{
    Fitted, Span, array, evenly_distributed_spans, fitted, local_cells, ordered, spans, spans_of_whole_blocks,
};
pub(super) use self::vector_cells::{FittedCells, VectorCells, check_lengths};

pub use self::vector::{IntoVector, Vector};

use std::rc::Rc;

use zippy::World;
use zippy::array::ArrayCore;
use zippy::collective::{Collective, CollectiveWorld};
use zippy::error::Result;
use zippy::region::Region;

/// Data-parallel primitives over distributed vectors: 1-D global arrays with any cuts and owners,
/// or sections of such arrays. Created by [`Primitives::vectors`](crate::Primitives::vectors).
///
/// All primitives are collective: every rank passes the same vectors. Results have the same bits
/// for every number of ranks and every cut.
#[derive(Clone, Copy)]
pub struct Vectors<'w> {
    world: &'w World,
}

impl<'w> Vectors<'w> {
    pub(crate) fn new(world: &'w World) -> Self {
        Self { world }
    }

    pub(crate) fn world(&self) -> &'w World {
        self.world
    }

    /// Runs a primitive as a collective over these vectors. `argument` is a fingerprint of the
    /// other arguments that must be equal on all ranks.
    pub(crate) fn collective<R>(
        &self,
        verb: &'static str,
        vectors: Vec<(Rc<ArrayCore>, Region)>,
        argument: impl std::hash::Hash,
        f: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let call = Collective::new(verb).also_compare(argument);
        let call = vectors.into_iter().fold(call, |call, (array, region)| call.section(&array, region));
        self.world.run_collective(call, f)
    }
}
