//! What this rank has moved last, for those who look into a program.

use std::panic::Location;

use super::World;
use super::job::Job;
use super::last_exchange::MovedBoxes;
use crate::history::What;

impl World {
    /// Remembers what is moved. What an observer moves is none of the program's.
    #[track_caller]
    pub(super) fn remember(&self, jobs: &[Job]) {
        if !self.observing.get() {
            let site = self.ledger.site(What::Local("an exchange"), Location::caller());
            self.last_exchange.borrow_mut().set(site, jobs);
        }
    }

    /// What this rank has moved and sent in the last exchange (copies between global arrays, composites, ghost updates,
    /// started ones, prefixes), `most` boxes of it. Local. Copies that involve a local array and one-sided operations are
    /// none.
    pub(crate) fn last_moves(&self, most: usize) -> MovedBoxes {
        self.last_exchange.borrow().moved(self.rank(), most)
    }
}
