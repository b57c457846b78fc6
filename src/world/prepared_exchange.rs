//! [`PreparedExchange`]: jobs of an [`Exchange`]. Entries that share messages become one job with
//! one plan.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::rc::Rc;

use super::exchange::{BoundSection, Entry, Exchange, GhostUpdate, SectionPair};
use super::exchange_name::{CopyName, ExchangeName, GhostUpdateName};
use super::job::Job;
use super::merge_rule::MergeRule;
use super::plan::{Plan, PlannedTransfer};
use super::prefix_copies::PrefixCopies;
use super::transfer::Operands;
use super::{Pending, World, ghosts, hash};
use crate::array::{ArrayCore, ArrayId};
use crate::error::{CallSite, Error, ErrorKind, PlanError, Result};
use crate::plan::{self, CopySpec, Moved};

/// Jobs of an exchange on this rank, and the name and signature of the collective.
pub(super) struct PreparedExchange {
    drafts: Vec<JobDraft>,
    operation: Rc<dyn Display>,
    signature: u64,
}

/// Job without pinned chunks. The lengths of prefixes are not yet validated.
enum JobDraft {
    Planned { planned: PlannedTransfer, operands: Operands, merge_rules: Vec<MergeRule>, aliased: bool },
    Prefixes(PrefixCopies),
}

/// Display name and signature of a job.
type NameAndSignature = (Rc<dyn Display>, u64);

impl World {
    /// Executes an exchange. Collective: every rank passes the same entries. On return, the part of
    /// this rank is complete.
    ///
    /// Costs the messages described at [`Exchange`], split as in [`copy`](Self::copy). Like `copy`,
    /// an exchange may wait until receivers have read large boxes. Plans are reused for all arrays
    /// with the same cuts and owners; prefixes are planned in each call.
    ///
    /// # Errors
    /// An invalid entry; different extents (with the index of the pair among the pairs that share
    /// messages); a failure of this or another rank.
    #[track_caller]
    pub fn exchange(&self, exchange: impl Borrow<Exchange>) -> Result<Moved> {
        let _call = CallSite::enter();
        let PreparedExchange { drafts, operation, signature } = self.prepare(exchange.borrow(), CallSite::here())?;
        self.collective(operation, signature, || self.execute(self.jobs(drafts)?))
    }

    /// Starts an exchange. Collective, as is `wait`.
    ///
    /// On return, the sources have been read and may change. The destinations must not be accessed
    /// before `wait` returns, except by other started composites: composites to the same cells take
    /// effect in the order of their `wait` calls. All messages are in staging memory at the same
    /// time; [`exchange`](Self::exchange) stages large messages one after the other.
    ///
    /// # Errors
    /// As for [`exchange`](Self::exchange).
    #[track_caller]
    pub fn start(&self, exchange: impl Borrow<Exchange>) -> Result<Pending<'_>> {
        let _call = CallSite::enter();
        let PreparedExchange { drafts, operation, signature } = self.prepare(exchange.borrow(), CallSite::here())?;
        let posted = self.collective(operation.clone(), signature, || self.execute_start(self.jobs(drafts)?))?;
        Ok(Pending::new(self, operation, posted.moved(), move || self.finish_started(&posted)))
    }

    /// Plans the messages and bytes that an exchange sends to each rank in each round, for
    /// `explain()`. Local: reads metadata only, and caches the plans for the exchange.
    ///
    /// # Errors
    /// An invalid entry, or different extents.
    #[track_caller]
    pub fn plan(&self, exchange: impl Borrow<Exchange>) -> Result<Plan> {
        let _call = CallSite::enter();
        let mut all = Plan::default();
        for entries in split_into_groups(exchange.borrow().entries()?) {
            match self.draft(entries)?.0 {
                JobDraft::Planned { planned, operands, .. } => all.add(planned, &operands),
                JobDraft::Prefixes(prefixes) => all.add(prefixes.plan_maximum(self), &prefixes.operands()),
            }
        }
        Ok(all)
    }

    fn prepare(&self, exchange: &Exchange, call_site: CallSite) -> Result<PreparedExchange> {
        self.check_not_failed()?;
        let entries = exchange.entries()?;
        if self.rank() == 0 {
            ghosts::warn_without_ghost_cells(entries, call_site);
        }
        let groups = split_into_groups(entries).into_iter().map(|entries| self.draft(entries));
        let (drafts, mut names): (Vec<_>, Vec<NameAndSignature>) =
            groups.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let (operation, signature) = if names.len() == 1 {
            names.swap_remove(0)
        } else {
            let (operations, signatures): (Vec<_>, Vec<_>) = names.into_iter().unzip();
            (Rc::new(ExchangeName(operations)) as Rc<dyn Display>, hash(signatures))
        };
        Ok(PreparedExchange { drafts, operation, signature })
    }

    /// Pins the chunks of the jobs. Runs inside a collective, because a single rank may fail here.
    fn jobs(&self, drafts: Vec<JobDraft>) -> Result<Vec<Job>> {
        let job = |draft| match draft {
            JobDraft::Planned { planned, operands, merge_rules, aliased } => {
                Job::new(planned, operands, merge_rules, aliased)
            }
            JobDraft::Prefixes(prefixes) => prefixes.job(self),
        };
        drafts.into_iter().map(job).collect()
    }

    /// Plans a group of entries that share messages.
    fn draft(&self, entries: &[Entry]) -> Result<(JobDraft, NameAndSignature)> {
        let pairs = entries.iter().filter_map(|entry| if let Entry::Pair(pair) = entry { Some(pair) } else { None });
        let ghosts =
            entries.iter().filter_map(|entry| if let Entry::Ghosts(update) = entry { Some(update) } else { None });
        match entries {
            [Entry::Pair(pair)] => self.draft_pair(pair),
            [Entry::Pair(first), ..] => self.draft_pairs(&first.merge_rule, &pairs.collect::<Vec<_>>()),
            [Entry::Ghosts(_), ..] => self.draft_ghost_update(&ghosts.collect::<Vec<_>>()),
            _ => {
                let prefixes = PrefixCopies::new(entries)?;
                let call = prefixes.call();
                let signature = call.signature();
                Ok((JobDraft::Prefixes(prefixes), (Rc::new(call), signature)))
            }
        }
    }

    fn draft_pair(
        &self,
        SectionPair { source, destination, order, merge_rule }: &SectionPair,
    ) -> Result<(JobDraft, NameAndSignature)> {
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
        let planned = self.plan_copy(&spec, &operands).map_err(|error| with_array_labels(error, labels))?;
        let regions = [source.region, destination.region];
        let operation = CopyName::pair([src, dst], regions, merge_rule.operator(), order.as_deref());
        Ok(draft(planned, operands, vec![merge_rule.clone()], operation))
    }

    fn draft_pairs(&self, merge_rule: &MergeRule, pairs: &[&SectionPair]) -> Result<(JobDraft, NameAndSignature)> {
        let (operands, numbered) = number_arrays(pairs);
        let planned = self.plan_copies(&numbered, &operands).map_err(|(index, error)| {
            let pair = &numbered[index];
            let labels = || {
                let source = operands[pair.src].label(&pair.src_region);
                (format!("{source} (pair {index})"), operands[pair.dst].label(&pair.dst_region))
            };
            with_array_labels(error, labels)
        })?;
        let operation = CopyName::pairs(&operands, &numbered, merge_rule.operator());
        Ok(draft(planned, operands, vec![merge_rule.clone()], operation))
    }

    fn draft_ghost_update(&self, updates: &[&GhostUpdate]) -> Result<(JobDraft, NameAndSignature)> {
        if let Some((first, again)) = ghosts::find_duplicate(updates) {
            let (first, again) = (first.array.name().to_string(), again.array.name().to_string());
            return Err(PlanError::GhostsTwice { first, again }.into());
        }
        let operands: Vec<_> = updates.iter().map(|update| update.array.clone()).collect();
        let specs: Vec<_> = updates.iter().map(|update| update.spec.clone()).collect();
        let (mut merge_rules, mut rule_indices): (Vec<MergeRule>, Vec<usize>) = (Vec::new(), Vec::new());
        for update in updates {
            rule_indices.push(merge_rules.iter().position(|known| *known == update.merge_rule).unwrap_or_else(|| {
                merge_rules.push(update.merge_rule.clone());
                merge_rules.len() - 1
            }));
        }
        let planned = self.plan_ghosts(&operands, &specs, &rule_indices)?;
        let aliased = ghosts::has_both_directions(updates);
        let operation = GhostUpdateName::new(updates);
        let signature = hash(&operation);
        Ok((JobDraft::Planned { planned, operands, merge_rules, aliased }, (Rc::new(operation), signature)))
    }
}

fn draft(
    planned: PlannedTransfer,
    operands: Operands,
    merge_rules: Vec<MergeRule>,
    operation: impl Display + std::hash::Hash + 'static,
) -> (JobDraft, NameAndSignature) {
    let signature = hash(&operation);
    (JobDraft::Planned { planned, operands, merge_rules, aliased: false }, (Rc::new(operation), signature))
}

/// Splits entries into groups of consecutive entries that share a plan.
fn split_into_groups(mut entries: &[Entry]) -> Vec<&[Entry]> {
    let mut groups = Vec::new();
    while let Some(first) = entries.first() {
        let mut written = WrittenCells::default();
        if let Entry::Prefix(pair, _) = first {
            written.insert(&pair.destination);
        }
        let mut shares_plan = |next: &Entry| match (first, next) {
            (Entry::Pair(a), Entry::Pair(b)) => a.merge_rule == b.merge_rule && a.order.is_none() && b.order.is_none(),
            (Entry::Ghosts(_), Entry::Ghosts(_)) => true,
            (Entry::Prefix(..), Entry::Prefix(pair, _)) => written.insert(&pair.destination),
            _ => false,
        };
        let length = entries[1..].iter().position(|next| !shares_plan(next));
        let (group, rest) = entries.split_at(length.map_or(entries.len(), |length| length + 1));
        groups.push(group);
        entries = rest;
    }
    groups
}

/// Cells that the prefixes of a group write. No cell is written twice, because these writes are
/// unordered.
#[derive(Default)]
struct WrittenCells(HashMap<ArrayId, (ArrayId, BTreeMap<i64, i64>)>);

impl WrittenCells {
    /// Adds a section. Returns `false` if a part of the section may have been added already.
    fn insert(&mut self, BoundSection { array, region }: &BoundSection) -> bool {
        let (start, end) = (region.start[0], region.end[0]);
        let (handle, sections) = self.0.entry(array.allocation_id()).or_insert_with(|| (array.id(), BTreeMap::new()));
        let last_before = sections.range(..end).next_back();
        // Handles of the same chunks have different indices for a cell.
        if *handle != array.id() || last_before.is_some_and(|(_, &last_end)| last_end > start) {
            return false;
        }
        sections.insert(start, end);
        true
    }
}

/// Numbers the distinct arrays of pairs, and returns the pairs with these numbers.
fn number_arrays(pairs: &[&SectionPair]) -> (Vec<Rc<ArrayCore>>, Vec<plan::Pair>) {
    let mut operands: Vec<Rc<ArrayCore>> = Vec::new();
    let mut numbers: HashMap<ArrayId, usize> = HashMap::new();
    let mut number = |array: &Rc<ArrayCore>| {
        *numbers.entry(array.id()).or_insert_with(|| {
            operands.push(array.clone());
            operands.len() - 1
        })
    };
    let mut numbered = |SectionPair { source, destination, .. }: &&SectionPair| {
        let (src_region, dst_region) = (source.region, destination.region);
        plan::Pair { src: number(&source.array), src_region, dst: number(&destination.array), dst_region }
    };
    let pairs = pairs.iter().map(&mut numbered).collect();
    (operands, pairs)
}

/// Replaces the regions in a plan error by the labels of source and destination.
fn with_array_labels(error: Error, labels: impl FnOnce() -> (String, String)) -> Error {
    error.with_kind(|kind| match kind {
        ErrorKind::Plan(PlanError::Extents { src_extents, dst_extents, permuted, .. }) => {
            let (src, dst) = labels();
            PlanError::Extents { src, src_extents, dst, dst_extents, permuted }.into()
        }
        kind => kind,
    })
}
