//! What ranks have called in sub-groups, compared at the end of a run: calls that differ in one may leave no message behind.
//!
//! Each rank keeps one sum over all its sub-groups. The lowest rank of a group adds the fingerprint of its calls once for each
//! other member, and each of these takes its own away: the sum over all ranks is 0 where all have called the same. Only where
//! it is not do the ranks tell each other which groups they were in.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::Group;
use super::calls::{Calls, Told, first_difference, mixed};
use super::inquiry::differing;
use super::payload::{decoded, encoded};
use crate::error::{Error, Result, TransportError};

/// So many groups that a rank has left are remembered with their calls, for the error that names two of them.
const REMEMBERED: usize = 64;
/// And so many calls of each.
const CALLS: usize = 16;

/// The messages of this comparison, beside all exchanges.
const SUMS: u64 = 4;
const REPORTS: u64 = 5;
const MEETING: u64 = 6;

/// A sub-group of this rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SubGroup {
    /// Its first exchange, and the lowest of its ranks in the run: no other one has both.
    pub start: u64,
    pub lowest: usize,
    pub size: usize,
}

/// The sub-groups that a rank was in.
#[derive(Default)]
pub(crate) struct Left {
    /// Whether there is any in the run, as far as this rank knows; all know the same at its end.
    any: Cell<bool>,
    sum: Cell<u64>,
    last: RefCell<VecDeque<(SubGroup, Calls)>>,
}

impl Left {
    /// Some ranks are making groups of their own.
    pub(crate) fn note_split(&self) {
        self.any.set(true);
    }

    /// The last handle of a group is gone.
    pub(crate) fn leave(&self, group: SubGroup, is_lowest: bool, mut calls: Calls) {
        if group.size == 1 {
            return;
        }
        self.sum.set(self.sum.get().wrapping_add(share(group, is_lowest, &calls)));
        calls.forget_all_but(CALLS);
        let mut last = self.last.borrow_mut();
        if last.len() == REMEMBERED {
            last.pop_front();
        }
        last.push_back((group, calls));
    }
}

/// What a member adds to the sum.
fn share(group: SubGroup, is_lowest: bool, calls: &Calls) -> u64 {
    let fingerprint = mixed(mixed(calls.history(), group.start), group.lowest as u64);
    if is_lowest { fingerprint.wrapping_mul(group.size as u64 - 1) } else { fingerprint.wrapping_neg() }
}

/// What a rank has called in a sub-group.
#[derive(Serialize, Deserialize)]
struct Report {
    group: SubGroup,
    history: u64,
    calls: Vec<Told>,
}

impl Group {
    /// Compares what all ranks have called in their sub-groups. For the end of a run, by all its ranks.
    ///
    /// # Errors
    /// [`Error::Differing`] on every rank, naming two of the calls.
    pub(crate) fn compare_sub_groups(&self) -> Result<()> {
        let left = self.left();
        if !left.any.get() {
            return Ok(());
        }
        let alive = self.sub_groups();
        let shares = alive.iter().map(|group| {
            let (sub_group, is_lowest) = group.as_sub_group();
            if sub_group.size == 1 { 0 } else { share(sub_group, is_lowest, group.calls()) }
        });
        let own = shares.fold(left.sum.get(), u64::wrapping_add);
        if self.sum_of(own)? == 0 {
            return Ok(());
        }
        let mut reports: Vec<Report> =
            alive.iter().map(|group| report(group.as_sub_group().0, group.calls())).collect();
        reports.extend(left.last.borrow().iter().map(|(group, calls)| report(*group, calls)));
        Err(self.first_that_differs(&reports)?)
    }

    fn sum_of(&self, own: u64) -> Result<u64> {
        let mut sum = [own];
        let tag = self.reserved_tag(SUMS);
        self.reduce_on((tag, tag), &mut sum, |a, b| *a = a.wrapping_add(*b))?;
        Ok(sum[0])
    }

    /// The error of the first group whose members have not called the same, where that is still remembered.
    fn first_that_differs(&self, own: &[Report]) -> Result<Error> {
        let mut groups: BTreeMap<SubGroup, Vec<(usize, Report)>> = BTreeMap::new();
        for rank in 0..self.size() {
            let payload = (rank == self.rank()).then(|| encoded(&own)).transpose()?;
            let payload = self.broadcast_on(self.reserved_tag(REPORTS), rank, payload)?;
            for report in decoded::<Vec<Report>>(&payload)? {
                groups.entry(report.group).or_default().push((self.world_rank_of(rank), report));
            }
        }
        // Nobody fails, and so ends the others, before all have heard everybody.
        let _ = self.meet(self.reserved_tag(MEETING));
        for (group, members) in groups {
            let Some(((rank, one), others)) = members.split_first() else { continue };
            if let Some((other_rank, other)) = others.iter().find(|(_, other)| other.history != one.history) {
                let (call, other_call) = difference(&one.calls, &other.calls);
                let place = |call: String| format!("{call} of a group of {}", group.size);
                return Ok(differing((*rank, place(call)), (*other_rank, place(other_call))));
            }
        }
        let text =
            "ranks have called different operations in a group that they left long ago; ZIPPY_CHECK=1 names them";
        Ok(TransportError::Other(text.into()).into())
    }
}

fn report(group: SubGroup, calls: &Calls) -> Report {
    Report { group, history: calls.history(), calls: calls.told() }
}

fn difference(one: &[Told], other: &[Told]) -> (String, String) {
    first_difference(one, other).unwrap_or_else(|| {
        // One has called what the other has, and then more.
        let behind = |calls: &[Told], of: &[Told]| match of.last() {
            Some(last) => calls.iter().find(|call| call.follows(Some(last))).map(|call| call.text.clone()),
            None => calls.first().map(|call| call.text.clone()),
        };
        let text = |found: Option<String>| found.unwrap_or_else(|| "nothing more".into());
        (text(behind(one, other)), text(behind(other, one)))
    })
}
