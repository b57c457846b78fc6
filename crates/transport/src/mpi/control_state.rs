//! [`ControlState`]: failures and progress of the other ranks, as received in control messages.

use std::cell::{Cell, RefCell};

use zippy_base::error::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Progress {
    #[default]
    Running,
    /// Finished without error, after this many pieces for the receiver of the message.
    Finished {
        pieces: u64,
    },
    EndedWithError,
}

#[derive(Default)]
pub(super) struct Peer {
    /// True after a request for the other rank's progress.
    pub requested: bool,
    /// True for an unanswered request by the other rank.
    pub requested_by_peer: bool,
    pub progress: Progress,
}

/// Failures and progress of the ranks of a run.
#[derive(Default)]
pub(super) struct ControlState {
    /// First failure that this rank has received, for errors of its operations.
    first: RefCell<Option<Failure>>,
    /// Failure of the lowest rank, equal on all ranks at the end of a run.
    lowest: RefCell<Option<Failure>>,
    pub peers: RefCell<Vec<Peer>>,
    pub own_progress: Cell<Progress>,
}

impl ControlState {
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

    pub(super) fn add_failure(&self, failure: Failure) {
        let mut lowest = self.lowest.borrow_mut();
        if lowest.as_ref().is_none_or(|lowest| failure.rank < lowest.rank) {
            *lowest = Some(failure.clone());
        }
        self.first.borrow_mut().get_or_insert(failure);
    }

    /// Ranks other than `own` without a reported end of their program.
    pub(super) fn running_peers(&self, own: usize) -> Vec<usize> {
        let peers = self.peers.borrow();
        (0..peers.len()).filter(|&rank| rank != own && peers[rank].progress == Progress::Running).collect()
    }
}
