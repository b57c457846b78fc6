//! [`Plan`]: moves and messages of an exchange. [`PlannedTransfer`]: plan with its transfer.

use std::fmt;
use std::rc::Rc;

use super::transfer::Transfer;
use crate::array::ArrayCore;
use crate::device::{Device, cache_capacity};
use crate::plan::cache::{PlanCache, PlanKey};
use crate::plan::{Moved, RankPlan};

/// Moves and messages of an exchange on this rank, from [`World::plan`](crate::World::plan).
/// Displays as [`explain`](Self::explain).
#[derive(Debug, Clone, Default)]
pub struct Plan {
    groups: Vec<GroupPlan>,
    moved: Moved,
}

/// Plan of the entries that share messages.
#[derive(Debug, Clone)]
struct GroupPlan {
    plan: Rc<RankPlan>,
    element_bytes: Vec<usize>,
}

impl Plan {
    pub(super) fn add(&mut self, planned: PlannedTransfer, operands: &[Rc<ArrayCore>]) {
        let element_bytes = operands.iter().map(|array| array.element().bytes).collect();
        self.moved += planned.transfer.moved;
        self.groups.push(GroupPlan { plan: planned.plan, element_bytes });
    }

    /// Formats a table for each group of entries that share a plan: the moves within this rank, and
    /// for each message its round, peer, boxes, cells and bytes.
    pub fn explain(&self) -> String {
        self.groups.iter().map(|group| group.plan.explain(&group.element_bytes)).collect::<Vec<_>>().join("\n")
    }

    /// Predicted result of the operation; for prefixes, the maximum.
    ///
    /// A message is split, and counts as several messages, in these cases:
    ///
    /// * Its boxes have different element types or merge rules.
    /// * It exceeds 64 MiB (`ZIPPY_MESSAGE`).
    /// * It has boxes that can be sent in place: contiguous boxes of at least 64 KiB
    ///   (`ZIPPY_IN_PLACE`), if all hosts map the memory of their devices.
    pub fn moved(&self) -> Moved {
        self.moved
    }

    /// Moves, messages and rounds of each group of entries that share a plan. Each prefix has a
    /// separate message.
    pub fn rank_plans(&self) -> impl Iterator<Item = &RankPlan> {
        self.groups.iter().map(|group| &*group.plan)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain())
    }
}

/// Numbers of built and of reused plans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanCounters {
    /// Number of operations that reused a cached plan.
    pub reused: u64,
    /// Number of built plans.
    pub built: u64,
}

/// Plan, and its transfer for arrays with the element types of the operation.
#[derive(Debug, Clone)]
pub(super) struct PlannedTransfer {
    pub plan: Rc<RankPlan>,
    pub transfer: Rc<Transfer>,
}

/// Creates a cache that is bounded by the bytes of its plans and transfers.
pub(super) fn new_cache(device: &Device) -> PlanCache<PlannedTransfer> {
    let bytes =
        |key: &PlanKey, planned: &PlannedTransfer| key.bytes() + planned.plan.bytes() + planned.transfer.bytes();
    let mut plans = PlanCache::new(cache_capacity(), bytes);
    plans.bound(device.rank_share(cache_capacity()));
    plans
}
