//! Point-to-point messages between the ranks of a group.

use super::{Group, Payload, Tag};
use zippy_base::error::{CallSite, Result, TransportError};

impl Group {
    /// Sends a message to rank `to` of the group and returns at once. Local.
    ///
    /// # Errors
    /// [`TransportError::NoSuchRank`], or an error of the transport.
    #[track_caller]
    pub fn send(&self, to: usize, tag: Tag, payload: Payload) -> Result<()> {
        let _call = CallSite::enter();
        self.check_rank(to)?;
        Ok(self.transport().post(self.world_rank_of(to), tag, payload)?)
    }

    /// Waits for the next message with this tag from rank `from` of the group and returns it.
    /// Local.
    ///
    /// # Errors
    /// The errors of [`wait_for`](Self::wait_for).
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
        let (peer, before) = (self.world_rank_of(from), self.rank_state().awaited.get());
        let received = self.wait_in(operation, Some(from), || {
            // The count is read before the poll, so that a message in between counts as new.
            let arrived = self.transport().arrived_from(peer)?;
            let found = self.poll_running(operation, from, tag)?;
            self.rank_state().awaited.set(Some((self.id(), peer, arrived)));
            Ok(found)
        });
        self.rank_state().awaited.set(before);
        received
    }

    /// Waits for the next message with this tag from any rank of the group and returns it with its
    /// sender. Local.
    ///
    /// # Errors
    /// The errors of [`wait_for`](Self::wait_for).
    #[track_caller]
    pub fn receive_any(&self, tag: Tag) -> Result<(usize, Payload)> {
        let _call = CallSite::enter();
        self.wait_in("receive", None, || self.poll_any_running(tag))
    }

    /// Returns the next arrived message with this tag from one rank or any rank, with its sender.
    /// Local.
    ///
    /// Neither waits nor checks for failures of other ranks (see [`alive`](Self::alive)).
    ///
    /// # Errors
    /// [`TransportError::NoSuchRank`], or an error of the transport.
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
        self.check_fingerprint(from, tag, received.tag)?;
        Ok(Some((from, received.payload)))
    }

    /// Returns the next arrived message with this tag from a rank of the group.
    #[inline]
    pub(crate) fn poll_from(&self, from: usize, tag: Tag) -> Result<Option<Payload>> {
        let Some(received) = self.transport().poll(Some(self.world_rank_of(from)), tag)? else { return Ok(None) };
        self.check_fingerprint(from, tag, received.tag)?;
        Ok(Some(received.payload))
    }

    #[inline]
    pub(crate) fn check_rank(&self, rank: usize) -> Result<()> {
        if rank < self.size() { Ok(()) } else { Err(TransportError::NoSuchRank { rank, size: self.size() }.into()) }
    }

    /// True if all sends of this rank are complete. Local.
    ///
    /// # Errors
    /// An error of the transport.
    #[track_caller]
    pub fn flushed(&self) -> Result<bool> {
        let _call = CallSite::enter();
        Ok(self.transport().flushed()?)
    }
}
