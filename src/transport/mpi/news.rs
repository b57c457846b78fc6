//! What ranks tell each other besides messages, with a tag of its own: failures, and whether they are through.
//!
//! Failures are told to everybody. That a rank is through is told to those who ask, which waits do that take long, so that
//! good runs with many ranks are not ended by a message for every pair.

use serde::{Deserialize, Serialize};

use super::control::Progress;
use super::label::Label;
use super::wire::Wire;
use crate::error::{Failure, TransportError};
use crate::transport::{Received, Tag};

#[derive(Serialize, Deserialize)]
enum News {
    Failed(Failure),
    /// Are you through?
    Ask,
    /// The sender's program has finished; its messages to the receiver had this many pieces.
    Finished {
        pieces: u64,
    },
    /// The sender's program has ended with an error.
    Back,
}

impl Wire {
    fn send_news(&self, to: usize, news: &News) -> Result<(), TransportError> {
        let bytes = postcard::to_allocvec(news).map_err(|error| TransportError::Other(error.to_string()))?;
        self.send(to, self.control_tag(), &Label::new(Tag::new(0, 0, 0)), Box::new(bytes))
    }

    /// Tells all ranks of a failure, unless they know of one.
    pub(super) fn tell(&self, failure: &Failure) -> Result<(), TransportError> {
        if self.control.has_failed() {
            return Ok(());
        }
        self.control.note(failure.clone());
        let (rank, size, news) = (self.topology.rank, self.topology.size, News::Failed(failure.clone()));
        (1..size).try_for_each(|step| self.send_news((rank + step) % size, &news))
    }

    /// Takes in what others have told.
    pub(super) fn hear(&self) -> Result<(), TransportError> {
        while let Some(Received { from, payload, .. }) = self.take(None, self.control_tag(), None)? {
            let malformed = |_| TransportError::Other("what another rank told arrived malformed".into());
            let mut peers = self.control.peers.borrow_mut();
            match postcard::from_bytes((*payload).as_ref()).map_err(malformed)? {
                News::Failed(failure) => self.control.note(failure),
                News::Ask => peers[from].asks = true,
                News::Finished { pieces } => peers[from].progress = Progress::Finished { pieces },
                News::Back => peers[from].progress = Progress::Back,
            }
        }
        self.answer()
    }

    /// This rank is through: with its program, or with an error.
    pub(super) fn come_through(&self, well: bool) -> Result<(), TransportError> {
        self.control.own.set(if well { Progress::Finished { pieces: 0 } } else { Progress::Back });
        self.answer()
    }

    fn answer(&self) -> Result<(), TransportError> {
        let own = self.control.own.get();
        if own == Progress::Running {
            return Ok(());
        }
        let mut peers = self.control.peers.borrow_mut();
        for rank in (0..peers.len()).filter(|&rank| std::mem::take(&mut peers[rank].asks)).collect::<Vec<_>>() {
            let news = match own {
                Progress::Back => News::Back,
                _ => News::Finished { pieces: self.sent.borrow()[rank] },
            };
            self.send_news(rank, &news)?;
        }
        Ok(())
    }

    /// Asks a rank, once, whether it is through.
    pub(super) fn ask(&self, rank: usize) -> Result<(), TransportError> {
        if std::mem::replace(&mut self.control.peers.borrow_mut()[rank].asked, true) {
            return Ok(());
        }
        self.send_news(rank, &News::Ask)
    }

    /// Whether a rank has said that its program has finished, and all that it sent before is here.
    pub(super) fn is_finished(&self, rank: usize) -> Result<bool, TransportError> {
        let progress = self.control.peers.borrow()[rank].progress;
        let Progress::Finished { pieces } = progress else { return Ok(false) };
        Ok(self.received.borrow()[rank] >= pieces && self.arrivals.borrow_mut().settled(Some(rank))?)
    }
}
