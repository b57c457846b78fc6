//! What this rank has moved last, for those who look into a program.

use super::World;
use super::job::Job;
use super::last_exchange::{LastExchange, MovedBoxes};
use crate::error::CallSite;
use crate::history::What;

impl World {
    /// Remembers what is moved. What an observer moves is none of the program's.
    #[track_caller]
    pub(super) fn remember(&self, jobs: &[Job]) {
        if !self.observing.get() {
            let site = self.ledger.site(What::Local("an exchange"), CallSite::here());
            self.last_exchange.borrow_mut().set(site, jobs);
        }
    }

    /// Whether it is kept what a fence asks of owners, box by box: where a viewer may look at it.
    pub(super) fn remembers_asked(&self) -> bool {
        !self.observing.get() && self.viewer.borrow().is_some()
    }

    /// Remembers what this rank has asked of owners; forgets what was moved before where it was not kept.
    #[track_caller]
    pub(super) fn remember_asked(&self, asked: Option<MovedBoxes>) {
        if self.observing.get() {
            return;
        }
        let mut last = self.last_exchange.borrow_mut();
        match asked {
            Some(asked) => last.set_asked(self.ledger.site(What::Local("a fence"), CallSite::here()), asked),
            None => *last = LastExchange::default(),
        }
    }

    /// What this rank has moved and sent in the last exchange (copies between global arrays, composites, ghost updates,
    /// started ones, prefixes), or asked for and sent in the last fence or copy that involves a local array, `most` boxes of
    /// it; nothing of fences without a viewer. Local.
    pub(crate) fn last_moves(&self, most: usize) -> MovedBoxes {
        self.last_exchange.borrow().moved(self.rank(), most)
    }
}
