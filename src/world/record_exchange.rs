//! Records of the last exchange or fence of this rank.

use super::World;
use super::job::Job;
use super::last_exchange::{LastExchange, MovedBoxes};
use crate::error::CallSite;
use crate::history::OperationName;

impl World {
    /// Records the moves of jobs, except during the call of an observer.
    #[track_caller]
    pub(super) fn record_moves(&self, jobs: &[Job]) {
        if !self.is_observing.get() {
            let site = self.ledger.site(OperationName::Local("an exchange"), CallSite::here());
            self.last_exchange.borrow_mut().set(site, jobs);
        }
    }

    /// True if the requests of a fence are recorded box by box, for a viewer.
    pub(super) fn records_requests(&self) -> bool {
        !self.is_observing.get() && self.viewer.borrow().is_some()
    }

    /// Records the requests of a fence. Without `requested`, discards the previous record.
    #[track_caller]
    pub(super) fn record_requests(&self, requested: Option<MovedBoxes>) {
        if self.is_observing.get() {
            return;
        }
        let mut last = self.last_exchange.borrow_mut();
        match requested {
            Some(requested) => {
                last.set_requested(self.ledger.site(OperationName::Local("a fence"), CallSite::here()), requested)
            }
            None => *last = LastExchange::default(),
        }
    }

    /// Returns at most `max_boxes` boxes that this rank moved or sent in its last operation. Local.
    ///
    /// The operation is an exchange (copies between global arrays, composites, ghost updates,
    /// started exchanges and prefixes), or a fence or copy with a local array. Fences are recorded
    /// only with a viewer.
    pub(crate) fn last_moves(&self, max_boxes: usize) -> MovedBoxes {
        self.last_exchange.borrow().moved(self.rank(), max_boxes)
    }
}
