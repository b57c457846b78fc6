//! What is kept of an operation that was planned.

use std::rc::Rc;

use super::transfer::Transfer;
use crate::device::Device;
use crate::plan::RankPlan;
use crate::plan::cache::{PlanCache, PlanKey};

/// A plan, and what it is for arrays of given element types.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub plan: Rc<RankPlan>,
    pub transfer: Rc<Transfer>,
}

/// Most bytes of a rank's plan cache, which starts with the rank's share of them ([`Device::share_of`]) and grows while the rank
/// asks for plans that it dropped.
const REMEMBERED_BYTES: usize = 128 << 20;

pub(super) fn new_cache(device: &Device) -> PlanCache<Planned> {
    let bytes = |key: &PlanKey, planned: &Planned| key.bytes() + planned.plan.bytes() + planned.transfer.bytes();
    let mut plans = PlanCache::new(REMEMBERED_BYTES, bytes);
    plans.bound(device.share_of(REMEMBERED_BYTES));
    plans
}
