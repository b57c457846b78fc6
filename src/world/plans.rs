//! Plans and transfers of operations, built once and kept.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use super::planned::Planned;
use super::transfer::Transfer;
use super::{World, hash};
use crate::array::{ArrayCore, ArrayId};
use crate::error::{Error, Result};
use crate::plan::cache::PlanKey;
use crate::plan::{self, CopiesSpec, CopySpec, GhostSpec, Moved, Pair, RankPlan};
use crate::trace::Activity;

/// What an exchange will do on this rank, before it does it. Had from [`World::plan`]; displays as
/// [`explain`](Self::explain) says.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    parts: Vec<Explained>,
    moved: Moved,
}

/// Entries of an exchange that share a plan.
#[derive(Debug, Clone)]
struct Explained {
    plan: Rc<RankPlan>,
    element_bytes: Vec<usize>,
}

impl Plan {
    pub(super) fn add(&mut self, planned: Planned, operands: &[Rc<ArrayCore>]) {
        let element_bytes = operands.iter().map(|array| array.element().bytes).collect();
        self.moved += planned.transfer.moved;
        self.parts.push(Explained { plan: planned.plan, element_bytes });
    }

    /// A table for each group of entries that share a plan: what moves inside this rank, then for each message its
    /// round, its peer, its boxes, cells and bytes.
    pub fn explain(&self) -> String {
        self.parts.iter().map(|part| part.plan.explain(&part.element_bytes)).collect::<Vec<_>>().join("\n")
    }

    /// What the operation will return; of prefixes the most that it can be. A message that holds several element types
    /// or ways of combining, more than 64 MiB (`ZIPPY_MESSAGE`), or boxes that can be sent from where they lie (dense ones of
    /// 64 KiB, `ZIPPY_IN_PLACE`, and more, where all hosts map their devices' memory) travels in pieces and counts as many.
    pub fn moved(&self) -> Moved {
        self.moved
    }

    /// Moves, messages and rounds of each group of entries that share a plan. Of prefixes each has a message of its own.
    pub fn rank_plans(&self) -> impl Iterator<Item = &RankPlan> {
        self.parts.iter().map(|part| &*part.plan)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain())
    }
}

/// How often planned operations found their plan ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanCounters {
    /// Operations that found their plan ready.
    pub reused: u64,
    /// Plans built.
    pub built: u64,
}

impl World {
    /// How often this rank built plans, and found them ready.
    pub fn plan_counters(&self) -> PlanCounters {
        let plans = self.plans.borrow();
        PlanCounters { reused: plans.hits(), built: plans.misses() }
    }

    pub(super) fn planned_copy(&self, spec: &CopySpec, operands: &[Rc<ArrayCore>]) -> Result<Planned> {
        self.planned(PlanKey::copy(spec), operands, &[], || Ok(plan::copy(spec, self.rank())?))
    }

    pub(super) fn planned_copies(&self, pairs: &[Pair], operands: &[Rc<ArrayCore>]) -> Result<Planned, (usize, Error)> {
        let mut data: HashMap<ArrayId, usize> = HashMap::new();
        let number = |array: &Rc<ArrayCore>| {
            let next = data.len();
            (array.clone(), *data.entry(array.data()).or_insert(next))
        };
        let numbered: Vec<_> = operands.iter().map(number).collect();
        let arrays: Vec<_> = numbered.iter().map(|(array, data)| (array.placement(), *data)).collect();
        let spec = CopiesSpec { arrays: &arrays, pairs };
        let build = || plan::copies(&spec, self.rank()).map_err(|(pair, error)| (pair, error.into()));
        self.planned(PlanKey::copies(&spec), operands, &[], build)
    }

    pub(super) fn planned_ghosts(
        &self,
        arrays: &[Rc<ArrayCore>],
        specs: &[GhostSpec],
        classes: &[usize],
    ) -> Result<Planned> {
        let placed: Vec<_> = arrays.iter().map(|array| array.placement()).zip(specs).collect();
        self.planned(PlanKey::ghosts(&placed), arrays, classes, || Ok(plan::ghosts(&placed, self.rank())?))
    }

    fn planned<E>(
        &self,
        key: PlanKey,
        operands: &[Rc<ArrayCore>],
        classes: &[usize],
        build: impl FnOnce() -> Result<RankPlan, E>,
    ) -> Result<Planned, E> {
        let elements = operands.iter().map(|array| hash(array.element()));
        let facts: Vec<u64> = elements.chain(classes.iter().map(|&class| class as u64)).collect();
        self.plans.borrow_mut().get_or_build(key.with(&facts), || {
            self.tracer().span(Activity::Plan, || {
                let plan = build()?;
                let transfer = Rc::new(Transfer::new(&plan, operands, classes, self.common.messages));
                Ok(Planned { plan: Rc::new(plan), transfer })
            })
        })
    }
}
