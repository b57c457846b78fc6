//! [`Members`]: state of one group on a rank, shared by all its handles.

use std::cell::Cell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::calls::Calls;
use super::contexts::Context;
use super::sub_group_history::{SubGroupHistory, SubGroupId};

/// Identity of a group. Later groups may have the same context, but another first exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupId {
    pub context: u8,
    /// Number of the group's first exchange.
    pub start: u64,
}

/// Ranks of a group, its context and its exchange counter.
pub(super) struct Members {
    pub(super) rank: usize,
    pub(super) size: usize,
    /// World rank of each member. `None` stands for the identity, in the group of all ranks.
    pub(super) world_ranks: Option<Vec<usize>>,
    /// (world rank, group rank) of each member, in ascending order.
    pub(super) by_world_rank: Vec<(usize, usize)>,
    pub(super) context: Context,
    /// Numbers of the first exchange and of the next exchange.
    pub(super) start: u64,
    pub(super) next: Cell<u64>,
    pub(super) calls: Calls,
    pub(super) sub_group_history: Rc<SubGroupHistory>,
}

impl Members {
    /// Identity of a sub-group in the comparison at the end of a run, and true if this rank is the
    /// lowest member.
    pub(super) fn sub_group_id(&self) -> (SubGroupId, bool) {
        let lowest = self.by_world_rank.first().copied().unwrap_or_default();
        (SubGroupId { start: self.start, lowest: lowest.0, size: self.size }, lowest.1 == self.rank)
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        if self.world_ranks.is_some() {
            let (group, is_lowest) = self.sub_group_id();
            self.sub_group_history.add(group, is_lowest, self.next.get(), std::mem::take(&mut self.calls));
        }
    }
}
