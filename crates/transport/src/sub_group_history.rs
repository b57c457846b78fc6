//! [`SubGroupHistory`]: the calls of a rank in its dropped sub-groups.
//!
//! Each rank keeps one sum over all its sub-groups. The lowest rank of a sub-group adds the
//! fingerprint of its calls once for each other member, and each other member subtracts its own
//! fingerprint. The sum over all ranks is 0 if all members have made the same calls.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::calls::{Calls, mixed};

/// Number of dropped sub-groups with recorded calls, for errors.
const KEPT_GROUPS: usize = 64;
pub(crate) const KEPT_CALLS_PER_GROUP: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SubGroupId {
    /// Number of the first exchange. Unique in a run together with `lowest`, the members' lowest
    /// world rank.
    pub start: u64,
    pub lowest: usize,
    pub size: usize,
}

/// Calls of a rank in its dropped sub-groups.
#[derive(Default)]
pub(crate) struct SubGroupHistory {
    /// True if the run has had sub-groups. Equal on all ranks at the end of the run.
    pub has_sub_groups: Cell<bool>,
    pub sum: Cell<u64>,
    pub former: RefCell<VecDeque<(SubGroupReport, Calls)>>,
}

impl SubGroupHistory {
    pub(crate) fn record_split(&self) {
        self.has_sub_groups.set(true);
    }

    /// Adds a dropped sub-group. `next` is the number of its next exchange.
    pub(crate) fn add(&self, group: SubGroupId, is_lowest: bool, next: u64, mut calls: Calls) {
        if group.size == 1 {
            return;
        }
        let fingerprint = group_fingerprint(next, &calls);
        self.sum.set(self.sum.get().wrapping_add(summand(group, is_lowest, fingerprint)));
        calls.keep_last(KEPT_CALLS_PER_GROUP);
        let mut former = self.former.borrow_mut();
        let forgotten = if former.len() == KEPT_GROUPS { former.pop_front() } else { None };
        former.push_back((SubGroupReport { group, fingerprint, exchanges: next - group.start }, calls));
        // Dropping a text may drop a group, which calls this method.
        drop(former);
        drop(forgotten);
    }
}

pub(crate) fn group_fingerprint(next: u64, calls: &Calls) -> u64 {
    mixed(calls.fingerprint(), next)
}

/// The term of one member in the sum of fingerprints.
pub(crate) fn summand(group: SubGroupId, is_lowest: bool, fingerprint: u64) -> u64 {
    let own = mixed(mixed(fingerprint, group.start), group.lowest as u64);
    if is_lowest { own.wrapping_mul(group.size as u64 - 1) } else { own.wrapping_neg() }
}

/// Summary of a rank's calls in a sub-group.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct SubGroupReport {
    pub group: SubGroupId,
    pub fingerprint: u64,
    pub exchanges: u64,
}
