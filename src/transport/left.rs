//! What a rank has called in the sub-groups that it has left.
//!
//! Each rank keeps one sum over all its sub-groups. The lowest rank of a group adds the fingerprint of its calls once for each
//! other member, and each of these takes its own away: the sum over all ranks is 0 where all have called the same.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::calls::{Calls, mixed};

/// So many groups that a rank has left are remembered with their calls, for the error that names two of them.
const REMEMBERED: usize = 64;
/// And so many calls of each.
pub(crate) const CALLS: usize = 16;

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
    pub any: Cell<bool>,
    pub sum: Cell<u64>,
    pub last: RefCell<VecDeque<(Report, Calls)>>,
}

impl Left {
    /// Some ranks are making groups of their own.
    pub(crate) fn note_split(&self) {
        self.any.set(true);
    }

    /// The last handle of a group is gone, of which the next exchange would have been `next`.
    pub(crate) fn leave(&self, group: SubGroup, is_lowest: bool, next: u64, mut calls: Calls) {
        if group.size == 1 {
            return;
        }
        let history = fingerprint(next, &calls);
        self.sum.set(self.sum.get().wrapping_add(share(group, is_lowest, history)));
        calls.forget_all_but(CALLS);
        let mut last = self.last.borrow_mut();
        let forgotten = if last.len() == REMEMBERED { last.pop_front() } else { None };
        last.push_back((Report { group, history, exchanges: next - group.start }, calls));
        // The texts of calls may hold groups themselves.
        drop(last);
        drop(forgotten);
    }
}

/// Of all that a rank has called and exchanged in a group.
pub(crate) fn fingerprint(next: u64, calls: &Calls) -> u64 {
    mixed(calls.history(), next)
}

/// What a member adds to the sum.
pub(crate) fn share(group: SubGroup, is_lowest: bool, history: u64) -> u64 {
    let own = mixed(mixed(history, group.start), group.lowest as u64);
    if is_lowest { own.wrapping_mul(group.size as u64 - 1) } else { own.wrapping_neg() }
}

/// That a rank was in a sub-group.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Report {
    pub group: SubGroup,
    pub history: u64,
    pub exchanges: u64,
}
