//! Cache of the plans of operations.

use std::collections::HashMap;
use std::rc::Rc;

use super::plan::PlannedTransfer;
use super::transfer::Transfer;
use super::{World, hash};
use crate::array::{ArrayCore, ArrayId};
use crate::error::{Error, Result};
use crate::plan::cache::PlanKey;
use crate::plan::{self, CopiesSpec, CopySpec, GhostSpec, Pair, RankPlan};
use crate::trace::Activity;

impl World {
    pub(super) fn plan_copy(&self, spec: &CopySpec<'_>, operands: &[Rc<ArrayCore>]) -> Result<PlannedTransfer> {
        self.cached_transfer(PlanKey::copy(spec), operands, &[], || Ok(plan::copy(spec, self.rank())?))
    }

    pub(super) fn plan_copies(
        &self,
        pairs: &[Pair],
        operands: &[Rc<ArrayCore>],
    ) -> Result<PlannedTransfer, (usize, Error)> {
        let mut allocations: HashMap<ArrayId, usize> = HashMap::new();
        let number = |array: &Rc<ArrayCore>| {
            let next = allocations.len();
            (array.clone(), *allocations.entry(array.allocation_id()).or_insert(next))
        };
        let numbered: Vec<_> = operands.iter().map(number).collect();
        let arrays: Vec<_> = numbered.iter().map(|(array, allocation)| (array.placement(), *allocation)).collect();
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
