//! [`ControlState`]: state of the other ranks, as received in control messages: failures and
//! progress.

use std::cell::{Cell, RefCell};

use zippy_base::error::Failure;

/// Progress of a rank with its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Progress {
    #[default]
    Running,
    /// Finished without error, after sending this many pieces to the receiver of the message.
    Finished {
        pieces: u64,
    },
    EndedWithError,
}

/// Control messages exchanged with another rank.
#[derive(Default)]
pub(super) struct Peer {
    /// True if this rank has requested the other rank's progress.
    pub requested: bool,
    /// True if the other rank has requested this rank's progress and has no answer yet.
    pub requested_by_peer: bool,
    /// Progress that the other rank has reported.
    pub progress: Progress,
}

/// State of all ranks of a run.
#[derive(Default)]
pub(super) struct ControlState {
    /// The first failure that this rank has received. Operations of this rank return it.
    first: RefCell<Option<Failure>>,
    /// The failure of the lowest rank. Equal on all ranks at the end of a run, also if ranks fail
    /// at the same time.
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

    /// Ranks other than `own` that have not reported the end of their program.
    pub(super) fn running_peers(&self, own: usize) -> Vec<usize> {
        let peers = self.peers.borrow();
        (0..peers.len()).filter(|&rank| rank != own && peers[rank].progress == Progress::Running).collect()
    }
}
