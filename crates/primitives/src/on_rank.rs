//! [`OnRank`]: data-parallel primitives on one rank.

use zippy::World;

/// Data-parallel primitives over cells of this rank, without communication. Created by
/// [`Primitives::on_rank`](crate::Primitives::on_rank).
///
/// Arguments are [sequences](zippy::array::Sequence): a section of a 1-D array, or several sections
/// one after another.
#[derive(Clone, Copy)]
pub struct OnRank<'w> {
    world: &'w World,
}

impl<'w> OnRank<'w> {
    pub(crate) fn new(world: &'w World) -> Self {
        Self { world }
    }

    pub(crate) fn world(&self) -> &'w World {
        self.world
    }
}
