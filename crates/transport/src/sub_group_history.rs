//! [`SubGroupHistory`]: the calls of a rank in its former sub-groups.
//!
//! Each rank keeps one sum over all its sub-groups. The lowest rank of a sub-group adds the
//! fingerprint of its calls once for each other member, and each other member subtracts its own
//! fingerprint: the sum over all ranks is 0 if all members have made the same calls.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::calls::{Calls, mixed};

/// Number of former sub-groups whose calls are kept, for the error with two of the calls.
const KEPT_GROUPS: usize = 64;
/// Number of calls that are kept per former sub-group.
pub(crate) const KEPT_CALLS_PER_GROUP: usize = 16;

/// Identity of a sub-group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SubGroupId {
    /// Number of the first exchange, and lowest world rank of the members. Both together are unique
    /// in a run.
    pub start: u64,
    pub lowest: usize,
    pub size: usize,
}

/// The former sub-groups of a rank.
#[derive(Default)]
pub(crate) struct SubGroupHistory {
    /// True if the run has had sub-groups. Equal on all ranks at the end of the run.
    pub has_sub_groups: Cell<bool>,
    pub sum: Cell<u64>,
    pub former: RefCell<VecDeque<(SubGroupReport, Calls)>>,
}

impl SubGroupHistory {
    /// Records that ranks create sub-groups.
    pub(crate) fn record_split(&self) {
        self.has_sub_groups.set(true);
    }

    /// Adds a sub-group after the drop of its last handle. `next` is the number of its next
    /// exchange.
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
        // The drop of a text may drop a group, which calls this method.
        drop(former);
        drop(forgotten);
    }
}

/// Fingerprint of all calls and exchanges of a rank in a sub-group.
pub(crate) fn group_fingerprint(next: u64, calls: &Calls) -> u64 {
    mixed(calls.fingerprint(), next)
}

/// The number that a member of a sub-group adds to the sum.
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
