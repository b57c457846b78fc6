//! [`ControlMessage`]: messages about failures and the progress of ranks, with a separate MPI tag.
//!
//! A failure is sent to all ranks. The end of a rank's program is sent only on request by a long
//! wait, so that a successful run needs no message per pair of ranks.

use serde::{Deserialize, Serialize};

use super::control_state::Progress;
use super::label::Label;
use super::mpi_transport::MpiTransport;
use crate::{Received, Tag};
use zippy_base::error::{Failure, TransportError};

#[derive(Serialize, Deserialize)]
enum ControlMessage {
    Failure(Failure),
    ProgressRequest,
    /// The sender's program has finished without error, after this many pieces for the receiver.
    Finished {
        pieces: u64,
    },
    EndedWithError,
}

impl MpiTransport {
    fn send_control(&self, to: usize, message: &ControlMessage) -> Result<(), TransportError> {
        let bytes = postcard::to_allocvec(message).map_err(|error| TransportError::Other(error.to_string()))?;
        self.send(to, self.control_tag(), &Label::new(Tag::new(0, 0, 0)), Box::new(bytes))
    }

    /// Sends this rank's first known failure to all ranks.
    pub(super) fn broadcast_failure(&self, failure: &Failure) -> Result<(), TransportError> {
        if self.control.has_failed() {
            return Ok(());
        }
        self.control.add_failure(failure.clone());
        let (rank, size, message) = (self.topology.rank, self.topology.size, ControlMessage::Failure(failure.clone()));
        (1..size).try_for_each(|step| self.send_control((rank + step) % size, &message))
    }

    pub(super) fn handle_control_messages(&self) -> Result<(), TransportError> {
        while let Some(Received { from, payload, .. }) = self.take(None, self.control_tag(), None)? {
            let malformed = |_| TransportError::Other("a control message of another rank is malformed".into());
            let mut peers = self.control.peers.borrow_mut();
            match postcard::from_bytes((*payload).as_ref()).map_err(malformed)? {
                ControlMessage::Failure(failure) => self.control.add_failure(failure),
                ControlMessage::ProgressRequest => peers[from].requested_by_peer = true,
                ControlMessage::Finished { pieces } => peers[from].progress = Progress::Finished { pieces },
                ControlMessage::EndedWithError => peers[from].progress = Progress::EndedWithError,
            }
        }
        self.answer_progress_requests()
    }

    pub(super) fn set_progress(&self, success: bool) -> Result<(), TransportError> {
        self.control.own_progress.set(if success {
            Progress::Finished { pieces: 0 }
        } else {
            Progress::EndedWithError
        });
        self.answer_progress_requests()
    }

    fn answer_progress_requests(&self) -> Result<(), TransportError> {
        let own = self.control.own_progress.get();
        if own == Progress::Running {
            return Ok(());
        }
        let mut peers = self.control.peers.borrow_mut();
        for rank in
            (0..peers.len()).filter(|&rank| std::mem::take(&mut peers[rank].requested_by_peer)).collect::<Vec<_>>()
        {
            let message = match own {
                Progress::EndedWithError => ControlMessage::EndedWithError,
                _ => ControlMessage::Finished { pieces: self.sent.borrow()[rank] },
            };
            self.send_control(rank, &message)?;
        }
        Ok(())
    }

    pub(super) fn request_progress(&self, rank: usize) -> Result<(), TransportError> {
        if std::mem::replace(&mut self.control.peers.borrow_mut()[rank].requested, true) {
            return Ok(());
        }
        self.send_control(rank, &ControlMessage::ProgressRequest)
    }

    /// True if a rank has reported its end and all its messages have arrived.
    pub(super) fn is_finished(&self, rank: usize) -> Result<bool, TransportError> {
        let progress = self.control.peers.borrow()[rank].progress;
        let Progress::Finished { pieces } = progress else { return Ok(false) };
        Ok(self.received.borrow()[rank] >= pieces && self.arrivals.borrow_mut().all_complete(Some(rank))?)
    }
}
