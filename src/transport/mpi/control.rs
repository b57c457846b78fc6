//! What a rank knows of the others besides messages: failures, and whether they are through.

use std::cell::{Cell, RefCell};

use crate::error::Failure;

/// How far a rank is with its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Progress {
    #[default]
    Running,
    Finished {
        pieces: u64,
    },
    Back,
}

/// What this rank and another one have told each other.
#[derive(Default)]
pub(super) struct Peer {
    pub asked: bool,
    pub asks: bool,
    /// As it has said.
    pub progress: Progress,
}

#[derive(Default)]
pub(super) struct Control {
    /// The failure that this rank knew first, which its operations return.
    first: RefCell<Option<Failure>>,
    /// That of the lowest rank, on which all agree when all are told: ranks may fail at the same time.
    lowest: RefCell<Option<Failure>>,
    pub peers: RefCell<Vec<Peer>>,
    pub own: Cell<Progress>,
}

impl Control {
    pub(super) fn new(ranks: usize) -> Self {
        Self { peers: RefCell::new((0..ranks).map(|_| Peer::default()).collect()), ..Self::default() }
    }

    pub(super) fn first_failure(&self) -> Option<Failure> {
        self.first.borrow().clone()
    }

    pub(super) fn lowest_failure(&self) -> Option<Failure> {
        self.lowest.borrow().clone()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.first.borrow().is_some()
    }

    pub(super) fn note(&self, failure: Failure) {
        let mut lowest = self.lowest.borrow_mut();
        if lowest.as_ref().is_none_or(|lowest| failure.rank < lowest.rank) {
            *lowest = Some(failure.clone());
        }
        self.first.borrow_mut().get_or_insert(failure);
    }

    /// Ranks that have not said that they are through.
    pub(super) fn away(&self, own: usize) -> Vec<usize> {
        let peers = self.peers.borrow();
        (0..peers.len()).filter(|&rank| rank != own && peers[rank].progress == Progress::Running).collect()
    }
}
