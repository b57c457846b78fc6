//! The caches of plans and of the transfers made from them.

use std::collections::HashMap;
use std::rc::Rc;

use super::World;
use super::transfer::{Operands, Transfer};
use crate::array::ArrayCore;
use crate::error::Result;
use crate::plan::{CopySpec, RankPlan};
use crate::trace::Span;

/// Transfers by plan and element types. Holds its plans, so that their addresses stay taken.
#[derive(Debug, Default)]
pub(super) struct TransferCache {
    transfers: HashMap<(usize, Vec<&'static str>), (Rc<RankPlan>, Rc<Transfer>)>,
}

/// Beyond this many the cache starts anew: a program that never repeats itself must not grow without end.
const MOST_TRANSFERS: usize = 4096;

impl World {
    /// The transfer of a plan for arrays of these element types.
    pub(super) fn transfer_of(&self, plan: &Rc<RankPlan>, operands: &Operands) -> Rc<Transfer> {
        let elements = operands.iter().map(|array| array.element().name).collect();
        let key = (Rc::as_ptr(plan) as usize, elements);
        let mut cache = self.transfers.borrow_mut();
        if let Some((_, transfer)) = cache.transfers.get(&key) {
            return transfer.clone();
        }
        if cache.transfers.len() >= MOST_TRANSFERS {
            cache.transfers.clear();
        }
        let transfer = Rc::new(self.tracer().span(Span::Plan, || Transfer::new(plan, operands)));
        cache.transfers.insert(key, (plan.clone(), transfer.clone()));
        transfer
    }
}
