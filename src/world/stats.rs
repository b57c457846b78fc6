//! [`Stats`]: times and counts of a run. [`Limits`]: sizes that fit the devices of all ranks.

use super::{PlanCounters, World};
use crate::trace::Profile;

/// Times and counts of a run on this rank, from [`World::stats`].
#[derive(Clone, Copy)]
pub struct Stats<'w> {
    world: &'w World,
}

/// Sizes of memory that fit the devices of all ranks, from [`World::limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum bytes of a shader binding.
    pub binding_bytes: u64,
    /// Maximum bytes of a buffer, and therefore of a chunk.
    pub buffer_bytes: u64,
}

impl World {
    /// Limits of arrays on the devices of all ranks; the same on every rank.
    pub fn limits(&self) -> Limits {
        Limits { binding_bytes: self.limits.binding_bytes, buffer_bytes: self.limits.buffer_bytes }
    }

    /// Times and counts of this rank. Local.
    pub fn stats(&self) -> Stats<'_> {
        Stats { world: self }
    }
}

impl Stats<'_> {
    /// Seconds that this rank spent in communication, by kind, since the start or the last
    /// [`reset_profile`](Self::reset_profile). Local.
    pub fn profile(&self) -> Profile {
        self.world.tracer.profile()
    }

    /// Resets the profile to zero. Local.
    pub fn reset_profile(&self) {
        self.world.tracer.reset();
    }

    /// Numbers of plans that this rank built and reused. Local.
    pub fn plan_counters(&self) -> PlanCounters {
        let plans = self.world.plans.borrow();
        PlanCounters { reused: plans.hits(), built: plans.misses() }
    }
}
