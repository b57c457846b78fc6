//! What is kept of an operation that was planned.

use std::rc::Rc;

use super::transfer::Transfer;
use crate::plan::RankPlan;
use crate::plan::cache::PlanCache;

/// A plan, and what it is for arrays of given element types.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub plan: Rc<RankPlan>,
    pub transfer: Rc<Transfer>,
}

/// How many operations are remembered.
const REMEMBERED: usize = 1024;

pub(super) fn new_cache() -> PlanCache<Planned> {
    PlanCache::new(REMEMBERED)
}
