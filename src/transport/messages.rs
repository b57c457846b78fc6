//! Messages between two ranks of a group.

use super::{Group, Payload, Tag};
use crate::error::{CallSite, Result, TransportError};

impl Group {
    /// Sends a message to a rank of the group and returns at once.
    ///
    /// # Errors
    /// [`TransportError::NoSuchRank`], or the transport's own failure.
    #[track_caller]
    pub fn send(&self, to: usize, tag: Tag, payload: Payload) -> Result<()> {
        let _call = CallSite::enter();
        self.check_rank(to)?;
        Ok(self.transport().post(self.world_rank_of(to), tag, payload)?)
    }

    /// The next message with this tag from a rank of the group; waits for it.
    ///
    /// # Errors
    /// As [`wait_for`](Self::wait_for).
    #[track_caller]
    pub fn receive(&self, from: usize, tag: Tag) -> Result<Payload> {
        let _call = CallSite::enter();
        self.receive_in("receive", from, tag)
    }

    pub(crate) fn receive_in(&self, operation: &str, from: usize, tag: Tag) -> Result<Payload> {
        self.check_rank(from)?;
        match self.poll_from(from, tag)? {
            Some(payload) => Ok(payload),
            None => self.await_from(operation, from, tag),
        }
    }

    fn await_from(&self, operation: &str, from: usize, tag: Tag) -> Result<Payload> {
        let (peer, before) = (self.world_rank_of(from), self.station().awaited.get());
        let received = self.wait_in(operation, Some(from), || {
            // Counted before the look: what comes in the moment between is not taken for something that is of no use.
            let come = self.transport().come_from(peer)?;
            let found = self.next_of(operation, from, tag)?;
            self.station().awaited.set(Some((self.id(), peer, come)));
            Ok(found)
        });
        self.station().awaited.set(before);
        received
    }

    /// The next message with this tag from any rank of the group, with its sender; waits for it.
    ///
    /// # Errors
    /// As [`wait_for`](Self::wait_for).
    #[track_caller]
    pub fn receive_any(&self, tag: Tag) -> Result<(usize, Payload)> {
        let _call = CallSite::enter();
        self.wait_in("receive", None, || self.next_of_any(tag))
    }

    /// The next message with this tag from a rank, or from any, if it has arrived.
    ///
    /// Does not wait, and does not look for failures (see [`alive`](Self::alive)).
    ///
    /// # Errors
    /// [`TransportError::NoSuchRank`], or the transport's own failure.
    #[track_caller]
    pub fn try_receive(&self, from: Option<usize>, tag: Tag) -> Result<Option<(usize, Payload)>> {
        let _call = CallSite::enter();
        if let Some(from) = from {
            self.check_rank(from)?;
            return Ok(self.poll_from(from, tag)?.map(|payload| (from, payload)));
        }
        let Some(received) = self.transport().poll(None, tag)? else { return Ok(None) };
        let rank = received.from;
        let from = self.rank_of_world(rank).ok_or_else(|| TransportError::NoSuchRank { rank, size: self.size() })?;
        self.same_calls(from, tag, received.tag)?;
        Ok(Some((from, received.payload)))
    }

    /// The next message with this tag from a rank of the group, if it has arrived.
    #[inline]
    pub(crate) fn poll_from(&self, from: usize, tag: Tag) -> Result<Option<Payload>> {
        let Some(received) = self.transport().poll(Some(self.world_rank_of(from)), tag)? else { return Ok(None) };
        self.same_calls(from, tag, received.tag)?;
        Ok(Some(received.payload))
    }

    #[inline]
    pub(crate) fn check_rank(&self, rank: usize) -> Result<()> {
        if rank < self.size() { Ok(()) } else { Err(TransportError::NoSuchRank { rank, size: self.size() }.into()) }
    }

    /// Whether all posted payloads have been let go of.
    ///
    /// # Errors
    /// The transport's own failure.
    #[track_caller]
    pub fn flushed(&self) -> Result<bool> {
        let _call = CallSite::enter();
        Ok(self.transport().flushed()?)
    }
}
