//! What is kept of an operation that was planned.

use std::rc::Rc;

use super::transfer::Transfer;
use crate::device::{Device, cache_capacity};
use crate::plan::RankPlan;
use crate::plan::cache::{PlanCache, PlanKey};

/// A plan, and what it is for arrays of given element types.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub plan: Rc<RankPlan>,
    pub transfer: Rc<Transfer>,
}

pub(super) fn new_cache(device: &Device) -> PlanCache<Planned> {
    let bytes = |key: &PlanKey, planned: &Planned| key.bytes() + planned.plan.bytes() + planned.transfer.bytes();
    let mut plans = PlanCache::new(cache_capacity(), bytes);
    plans.bound(device.share_of(cache_capacity()));
    plans
}
