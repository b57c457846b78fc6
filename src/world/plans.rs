//! Plans and transfers of operations, built once and kept.

use std::rc::Rc;

use super::transfer::Transfer;
use super::{World, hash};
use crate::array::ArrayCore;
use crate::error::Result;
use crate::plan::cache::{PlanCache, PlanKey};
use crate::plan::{self, CopySpec, GhostSpec, RankPlan};
use crate::trace::Span;

/// A plan, and what it is for arrays of given element types.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub plan: Rc<RankPlan>,
    pub transfer: Rc<Transfer>,
}

/// How many operations are remembered.
const REMEMBERED: usize = 1024;

/// How often planned operations found their plan ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanCounters {
    /// Operations that found their plan ready.
    pub reused: u64,
    /// Plans built.
    pub built: u64,
}

pub(super) fn new_cache() -> PlanCache<Planned> {
    PlanCache::new(REMEMBERED)
}

impl World {
    /// How often this rank built plans, and found them ready.
    pub fn plan_counters(&self) -> PlanCounters {
        let plans = self.plans.borrow();
        PlanCounters { reused: plans.hits(), built: plans.misses() }
    }

    pub(super) fn planned_copy(&self, spec: &CopySpec, operands: &[Rc<ArrayCore>]) -> Result<Planned> {
        self.planned(PlanKey::copy(spec), operands, || Ok(plan::copy(spec, self.rank())?))
    }

    pub(super) fn planned_ghosts(&self, arrays: &[Rc<ArrayCore>], spec: &GhostSpec) -> Result<Planned> {
        let placed: Vec<_> = arrays.iter().map(|array| (array.placement(), spec)).collect();
        self.planned(PlanKey::ghosts(&placed), arrays, || Ok(plan::ghosts(&placed, self.rank())?))
    }

    fn planned(
        &self,
        key: PlanKey,
        operands: &[Rc<ArrayCore>],
        build: impl FnOnce() -> Result<RankPlan>,
    ) -> Result<Planned> {
        let elements: Vec<u64> = operands.iter().map(|a| hash((a.element().name, a.element().bytes))).collect();
        self.plans.borrow_mut().get_or_build(key.with(&elements), || {
            self.tracer().span(Span::Plan, || {
                let plan = build()?;
                let transfer = Rc::new(Transfer::new(&plan, operands));
                Ok(Planned { plan: Rc::new(plan), transfer })
            })
        })
    }
}
