//! From an [`Exchange`] to what is executed: entries that can share messages become one job, with one plan.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::rc::Rc;

use super::counted::Counted;
use super::exchange::{Bound, Entry, Exchange, Ghosts, SectionPair};
use super::job::Job;
use super::meeting::Meeting;
use super::operation::{GhostUpdate, InTurn, Operation};
use super::planned::Planned;
use super::plans::Plan;
use super::transfer::Operands;
use super::{Moved, Pending, World, ghosts, hash};
use crate::array::{ArrayCore, ArrayId};
use crate::error::{CallSite, Error, ErrorKind, PlanError, Result};
use crate::plan::{self, CopySpec};

/// What an exchange does on this rank, and how messages and comparisons name it.
pub(super) struct PreparedExchange {
    work: Vec<JobDraft>,
    operation: Rc<dyn Display>,
    signature: u64,
}

/// A job, or what becomes one when this rank's lengths are looked at.
enum JobDraft {
    Planned { planned: Planned, operands: Operands, meetings: Vec<Meeting>, aliased: bool },
    Counted(Counted),
}

/// A job's part in the name of its exchange.
type Name = (Rc<dyn Display>, u64);

impl World {
    /// Does what an exchange says. Collective: all ranks name the same; on return this rank's part is done.
    ///
    /// Costs the messages that [`Exchange`] counts (cut, and waited for, as in [`copy`](Self::copy)). Plans are kept for all
    /// arrays of the same cuts and owners, but for prefixes, which are planned at each call.
    ///
    /// # Errors
    /// A mistake in the description, extents that differ (of pairs that share messages the error gives the place among
    /// these), or a failure of this or of another rank.
    #[track_caller]
    pub fn exchange(&self, exchange: impl Borrow<Exchange>) -> Result<Moved> {
        let _call = CallSite::enter();
        let PreparedExchange { work, operation, signature } = self.prepared(exchange.borrow(), CallSite::here())?;
        self.collective(operation, signature, || self.execute(self.jobs(work)?))
    }

    /// Starts an exchange: on return the sources have been read and may change; what is written must not be touched
    /// before `wait`, but by other started composites: those onto the same cells take effect as they are waited for. All
    /// messages are staged at once, where [`exchange`](Self::exchange) stages large ones one after the other. Collective, and so is
    /// `wait`.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    #[track_caller]
    pub fn start(&self, exchange: impl Borrow<Exchange>) -> Result<Pending<'_>> {
        let _call = CallSite::enter();
        let PreparedExchange { work, operation, signature } = self.prepared(exchange.borrow(), CallSite::here())?;
        let posted = self.collective(operation.clone(), signature, || self.execute_start(self.jobs(work)?))?;
        Ok(Pending::new(self, operation, posted.moved(), move || self.finish_started(&posted)))
    }

    /// What an exchange will do on this rank, for `explain()`: messages and bytes to each rank in each round. Local: looks at
    /// metadata only, and keeps the plans for the operation.
    ///
    /// # Errors
    /// A mistake in the description, or extents that differ.
    #[track_caller]
    pub fn plan(&self, exchange: impl Borrow<Exchange>) -> Result<Plan> {
        let _call = CallSite::enter();
        let mut all = Plan::default();
        for entries in groups(exchange.borrow().entries()?) {
            match self.work(entries)?.0 {
                JobDraft::Planned { planned, operands, .. } => all.add(planned, &operands),
                JobDraft::Counted(counted) => all.add(counted.planned(self), &counted.operands()),
            }
        }
        Ok(all)
    }

    fn prepared(&self, exchange: &Exchange, at: CallSite) -> Result<PreparedExchange> {
        self.alive()?;
        let entries = exchange.entries()?;
        if self.rank() == 0 {
            ghosts::warn_of_none(entries, at);
        }
        let groups = groups(entries).into_iter().map(|entries| self.work(entries));
        let (work, mut names): (Vec<_>, Vec<Name>) = groups.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let (operation, signature) = if names.len() == 1 {
            names.swap_remove(0)
        } else {
            let (operations, signatures): (Vec<_>, Vec<_>) = names.into_iter().unzip();
            (Rc::new(InTurn(operations)) as Rc<dyn Display>, hash(signatures))
        };
        Ok(PreparedExchange { work, operation, signature })
    }

    /// The jobs, with their chunks pinned, now that a failure of this rank alone can be told to the others.
    fn jobs(&self, work: Vec<JobDraft>) -> Result<Vec<Job>> {
        let job = |work| match work {
            JobDraft::Planned { planned, operands, meetings, aliased } => {
                Job::new(planned, operands, meetings, aliased)
            }
            JobDraft::Counted(counted) => counted.job(self),
        };
        work.into_iter().map(job).collect()
    }

    /// What is to be done for entries that go together.
    fn work(&self, entries: &[Entry]) -> Result<(JobDraft, Name)> {
        let pairs = entries.iter().filter_map(|entry| if let Entry::Pair(pair) = entry { Some(pair) } else { None });
        let ghosts = entries.iter().filter_map(|entry| if let Entry::Ghosts(one) = entry { Some(one) } else { None });
        match entries {
            [Entry::Pair(pair)] => self.one_pair(pair),
            [Entry::Pair(first), ..] => self.many_pairs(&first.meeting, &pairs.collect::<Vec<_>>()),
            [Entry::Ghosts(_), ..] => self.ghost_update(&ghosts.collect::<Vec<_>>()),
            _ => {
                let counted = Counted::new(entries)?;
                let call = counted.call();
                let signature = call.signature();
                Ok((JobDraft::Counted(counted), (Rc::new(call), signature)))
            }
        }
    }

    fn one_pair(&self, SectionPair { source, destination, order, meeting }: &SectionPair) -> Result<(JobDraft, Name)> {
        let (src, dst) = (&source.array, &destination.array);
        let spec = CopySpec {
            src: src.placement(),
            src_region: source.region,
            dst: dst.placement(),
            dst_region: destination.region,
            aliased: src.is_alias_of(dst),
            permutation: order.as_deref(),
        };
        let operands = vec![src.clone(), dst.clone()];
        let labels = || (src.label(&spec.src_region), dst.label(&spec.dst_region));
        let planned = self.planned_copy(&spec, &operands).map_err(|error| in_terms_of_arrays(error, labels))?;
        let regions = [source.region, destination.region];
        let operation = Operation::one([src, dst], regions, meeting.operator(), order.as_deref());
        Ok(work(planned, operands, vec![meeting.clone()], operation))
    }

    fn many_pairs(&self, meeting: &Meeting, pairs: &[&SectionPair]) -> Result<(JobDraft, Name)> {
        let (operands, numbered) = number(pairs);
        let planned = self.planned_copies(&numbered, &operands).map_err(|(place, error)| {
            let pair = &numbered[place];
            let labels = || {
                let source = operands[pair.src].label(&pair.src_region);
                (format!("{source} (pair {place})"), operands[pair.dst].label(&pair.dst_region))
            };
            in_terms_of_arrays(error, labels)
        })?;
        let operation = Operation::many(&operands, &numbered, meeting.operator());
        Ok(work(planned, operands, vec![meeting.clone()], operation))
    }

    fn ghost_update(&self, all: &[&Ghosts]) -> Result<(JobDraft, Name)> {
        if let Some((first, again)) = ghosts::named_twice(all) {
            let (first, again) = (first.array.name().to_string(), again.array.name().to_string());
            return Err(PlanError::GhostsTwice { first, again }.into());
        }
        let operands: Vec<_> = all.iter().map(|one| one.array.clone()).collect();
        let specs: Vec<_> = all.iter().map(|one| one.spec.clone()).collect();
        let (mut meetings, mut classes): (Vec<Meeting>, Vec<usize>) = (Vec::new(), Vec::new());
        for one in all {
            classes.push(meetings.iter().position(|known| *known == one.meeting).unwrap_or_else(|| {
                meetings.push(one.meeting.clone());
                meetings.len() - 1
            }));
        }
        let planned = self.planned_ghosts(&operands, &specs, &classes)?;
        let aliased = ghosts::named_both_ways(all);
        let operation = GhostUpdate::new(all);
        let signature = hash(&operation);
        Ok((JobDraft::Planned { planned, operands, meetings, aliased }, (Rc::new(operation), signature)))
    }
}

fn work(
    planned: Planned,
    operands: Operands,
    meetings: Vec<Meeting>,
    operation: impl Display + std::hash::Hash + 'static,
) -> (JobDraft, Name) {
    let signature = hash(&operation);
    (JobDraft::Planned { planned, operands, meetings, aliased: false }, (Rc::new(operation), signature))
}

/// The entries that share a plan, in their order.
fn groups(mut entries: &[Entry]) -> Vec<&[Entry]> {
    let mut out = Vec::new();
    while let Some(first) = entries.first() {
        let mut written = WrittenCells::default();
        if let Entry::Prefix(pair, _) = first {
            written.is_new(&pair.destination);
        }
        let mut joins = |next: &Entry| match (first, next) {
            (Entry::Pair(a), Entry::Pair(b)) => a.meeting == b.meeting && a.order.is_none() && b.order.is_none(),
            (Entry::Ghosts(_), Entry::Ghosts(_)) => true,
            (Entry::Prefix(..), Entry::Prefix(pair, _)) => written.is_new(&pair.destination),
            _ => false,
        };
        let length = entries[1..].iter().position(|next| !joins(next));
        let (group, rest) = entries.split_at(length.map_or(entries.len(), |length| length + 1));
        out.push(group);
        entries = rest;
    }
    out
}

/// What prefixes of one group write: no cell twice, as they have no order among each other.
#[derive(Default)]
struct WrittenCells(HashMap<ArrayId, (ArrayId, BTreeMap<i64, i64>)>);

impl WrittenCells {
    /// Adds a section; `false` where a part of it may have been added before.
    fn is_new(&mut self, Bound { array, region }: &Bound) -> bool {
        let (start, end) = (region.start[0], region.end[0]);
        let (handle, sections) = self.0.entry(array.data()).or_insert_with(|| (array.id(), BTreeMap::new()));
        let before = sections.range(..end).next_back();
        // Handles of the same chunks name a cell by different numbers.
        if *handle != array.id() || before.is_some_and(|(_, &before)| before > start) {
            return false;
        }
        sections.insert(start, end);
        true
    }
}

/// Every array once, and the pairs in their numbers.
fn number(pairs: &[&SectionPair]) -> (Vec<Rc<ArrayCore>>, Vec<plan::Pair>) {
    let mut operands: Vec<Rc<ArrayCore>> = Vec::new();
    let mut numbers: HashMap<ArrayId, usize> = HashMap::new();
    let mut number = |array: &Rc<ArrayCore>| {
        *numbers.entry(array.id()).or_insert_with(|| {
            operands.push(array.clone());
            operands.len() - 1
        })
    };
    let mut one = |SectionPair { source, destination, .. }: &&SectionPair| {
        let (src_region, dst_region) = (source.region, destination.region);
        plan::Pair { src: number(&source.array), src_region, dst: number(&destination.array), dst_region }
    };
    let pairs = pairs.iter().map(&mut one).collect();
    (operands, pairs)
}

/// A plan knows regions, a user arrays: `labels` of source and destination.
fn in_terms_of_arrays(error: Error, labels: impl FnOnce() -> (String, String)) -> Error {
    error.with_kind(|kind| match kind {
        ErrorKind::Plan(PlanError::Extents { src_extents, dst_extents, permuted, .. }) => {
            let (src, dst) = labels();
            PlanError::Extents { src, src_extents, dst, dst_extents, permuted }.into()
        }
        kind => kind,
    })
}
