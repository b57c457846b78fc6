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

    /// Remembers what this rank has asked of owners.
    #[track_caller]
    pub(super) fn remember_asked(&self, asked: MovedBoxes) {
        if !self.observing.get() {
            let site = self.ledger.site(What::Local("a fence"), Location::caller());
            self.last_exchange.borrow_mut().set_asked(site, asked);
        }
    }

    /// What this rank has moved and sent in the last exchange (copies between global arrays, composites, ghost updates,
    /// started ones, prefixes), or asked for and sent in the last fence or copy that involves a local array, `most` boxes of
    /// it. Local.
    pub(crate) fn last_moves(&self, most: usize) -> MovedBoxes {
        self.last_exchange.borrow().moved(self.rank(), most)
    }
}
