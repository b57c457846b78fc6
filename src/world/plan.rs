//! [`Plan`] and [`PlannedTransfer`]: plans and transfers of operations, built once and cached.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use super::transfer::Transfer;
use super::{World, hash};
use crate::array::{ArrayCore, ArrayId};
use crate::device::{Device, cache_capacity};
use crate::error::{Error, Result};
use crate::plan::cache::{PlanCache, PlanKey};
use crate::plan::{self, CopiesSpec, CopySpec, GhostSpec, Moved, Pair, RankPlan};
use crate::trace::Activity;

/// Moves and messages of an exchange on this rank, from [`World::plan`]. Displays as
/// [`explain`](Self::explain).
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

    /// A table for each group of entries that share a plan: the moves within this rank, and for
    /// each message its round, peer, boxes, cells and bytes.
    pub fn explain(&self) -> String {
        self.groups.iter().map(|group| group.plan.explain(&group.element_bytes)).collect::<Vec<_>>().join("\n")
    }

    /// The result of the operation; for prefixes, the maximum.
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

    /// The moves, messages and rounds of each group of entries that share a plan. Each prefix has a
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

/// Number of built and of reused plans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanCounters {
    /// Operations that reused a cached plan.
    pub reused: u64,
    /// Plans built.
    pub built: u64,
}

/// Plan, and its transfer for arrays with the element types of the operation.
#[derive(Debug, Clone)]
pub(super) struct PlannedTransfer {
    pub plan: Rc<RankPlan>,
    pub transfer: Rc<Transfer>,
}

/// A cache bounded by the bytes of its plans and transfers.
pub(super) fn new_cache(device: &Device) -> PlanCache<PlannedTransfer> {
    let bytes =
        |key: &PlanKey, planned: &PlannedTransfer| key.bytes() + planned.plan.bytes() + planned.transfer.bytes();
    let mut plans = PlanCache::new(cache_capacity(), bytes);
    plans.bound(device.share_of(cache_capacity()));
    plans
}

impl World {
    /// The number of plans that this rank built and reused.
    pub fn plan_counters(&self) -> PlanCounters {
        let plans = self.plans.borrow();
        PlanCounters { reused: plans.hits(), built: plans.misses() }
    }

    pub(super) fn plan_copy(&self, spec: &CopySpec, operands: &[Rc<ArrayCore>]) -> Result<PlannedTransfer> {
        self.cached_transfer(PlanKey::copy(spec), operands, &[], || Ok(plan::copy(spec, self.rank())?))
    }

    pub(super) fn plan_copies(
        &self,
        pairs: &[Pair],
        operands: &[Rc<ArrayCore>],
    ) -> Result<PlannedTransfer, (usize, Error)> {
        let mut data: HashMap<ArrayId, usize> = HashMap::new();
        let number = |array: &Rc<ArrayCore>| {
            let next = data.len();
            (array.clone(), *data.entry(array.data()).or_insert(next))
        };
        let numbered: Vec<_> = operands.iter().map(number).collect();
        let arrays: Vec<_> = numbered.iter().map(|(array, data)| (array.placement(), *data)).collect();
        let spec = CopiesSpec { arrays: &arrays, pairs };
        let build = || plan::copies(&spec, self.rank()).map_err(|(pair, error)| (pair, error.into()));
        self.cached_transfer(PlanKey::copies(&spec), operands, &[], build)
    }

    pub(super) fn plan_ghosts(
        &self,
        arrays: &[Rc<ArrayCore>],
        specs: &[GhostSpec],
        rule_indices: &[usize],
    ) -> Result<PlannedTransfer> {
        let ghost_specs: Vec<_> = arrays.iter().map(|array| array.placement()).zip(specs).collect();
        self.cached_transfer(PlanKey::ghosts(&ghost_specs), arrays, rule_indices, || {
            Ok(plan::ghosts(&ghost_specs, self.rank())?)
        })
    }

    fn cached_transfer<E>(
        &self,
        key: PlanKey,
        operands: &[Rc<ArrayCore>],
        rule_indices: &[usize],
        build: impl FnOnce() -> Result<RankPlan, E>,
    ) -> Result<PlannedTransfer, E> {
        let elements = operands.iter().map(|array| hash(array.element()));
        let properties: Vec<u64> = elements.chain(rule_indices.iter().map(|&index| index as u64)).collect();
        self.plans.borrow_mut().get_or_build(key.with(&properties), || {
            self.tracer().span(Activity::Plan, || {
                let plan = build()?;
                let transfer = Rc::new(Transfer::new(&plan, operands, rule_indices, self.limits.messages));
                Ok(PlannedTransfer { plan: Rc::new(plan), transfer })
            })
        })
    }
}
