//! [`Primitives`]: access to the primitives from a world.

use zippy::World;

use crate::backend::{HasBackend, PrimitiveBackend};
use crate::host_primitives::HostPrimitives;
use crate::kernel_primitives::KernelPrimitives;
use crate::on_rank::OnRank;
use crate::vectors::Vectors;

/// Access to the data-parallel primitives of a [`World`].
pub trait Primitives {
    /// Returns the primitives over cells of this rank: scans, sorts and others. Local.
    fn on_rank(&self) -> OnRank<'_>;

    /// Returns the primitives over distributed vectors: scans, sorts and others. This call itself
    /// is local.
    fn vectors(&self) -> Vectors<'_>;
}

impl Primitives for World {
    fn on_rank(&self) -> OnRank<'_> {
        OnRank::new(self)
    }

    fn vectors(&self) -> Vectors<'_> {
        Vectors::new(self)
    }
}

impl HasBackend for World {
    fn backend(&self) -> &'static dyn PrimitiveBackend {
        if self.gpu().is_host() { &HostPrimitives } else { &KernelPrimitives }
    }
}
