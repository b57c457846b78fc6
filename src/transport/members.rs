//! The ranks of a group, as all handles of it on a rank share them.

use std::cell::Cell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::calls::Calls;
use super::contexts::Context;
use super::left::{Left, SubGroup};

/// Names a group for good: contexts are used again, numbers of exchanges are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupId {
    pub context: u8,
    /// Its first exchange.
    pub start: u64,
}

/// The ranks of a group and its place in the tags.
pub(super) struct Members {
    pub(super) rank: usize,
    pub(super) size: usize,
    /// World rank of each member; `None` where they are the same.
    pub(super) world: Option<Vec<usize>>,
    /// (world rank, rank) by world rank.
    pub(super) ranks: Vec<(usize, usize)>,
    pub(super) context: Context,
    /// Its first exchange, and the next one.
    pub(super) start: u64,
    pub(super) next: Cell<u64>,
    pub(super) calls: Calls,
    pub(super) left: Rc<Left>,
}

impl Members {
    /// A sub-group's name at the end of a run, and whether this rank is the lowest in it.
    pub(super) fn as_sub_group(&self) -> (SubGroup, bool) {
        let lowest = self.ranks.first().copied().unwrap_or_default();
        (SubGroup { start: self.start, lowest: lowest.0, size: self.size }, lowest.1 == self.rank)
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        if self.world.is_some() {
            let (group, is_lowest) = self.as_sub_group();
            self.left.leave(group, is_lowest, self.next.get(), std::mem::take(&mut self.calls));
        }
    }
}
