//! [`OnRank`]: data-parallel primitives over what one rank holds.

use crate::World;

/// Data-parallel primitives over what this rank holds: no other rank takes part. From [`World::on_rank`].
///
/// They take [sequences](super::Sequence): a section of a 1-D array, or several sections one after the other.
#[derive(Clone, Copy)]
pub struct OnRank<'w> {
    world: &'w World,
}

impl World {
    /// Data-parallel primitives over what this rank holds: scans, sorts and the like. Local.
    pub fn on_rank(&self) -> OnRank<'_> {
        OnRank { world: self }
    }
}

impl<'w> OnRank<'w> {
    pub(super) fn world(&self) -> &'w World {
        self.world
    }
}
