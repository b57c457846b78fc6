//! [`OnRank`]: data-parallel primitives on one rank.

use crate::World;

/// Data-parallel primitives over cells of this rank, without communication. From
/// [`World::on_rank`].
///
/// They take [sequences](super::Sequence): a section of a 1-D array, or several sections one after
/// another.
#[derive(Clone, Copy)]
pub struct OnRank<'w> {
    world: &'w World,
}

impl World {
    /// Data-parallel primitives over cells of this rank: scans, sorts and others. Local.
    pub fn on_rank(&self) -> OnRank<'_> {
        OnRank { world: self }
    }
}

impl<'w> OnRank<'w> {
    pub(super) fn world(&self) -> &'w World {
        self.world
    }
}
