//! Ranks whose program has finished: whoever still waits for a message of one is told at once.

use super::{Group, Payload, Tag};
use crate::error::{Error, Failure, Result};

/// What a rank calls that has finished, beside what another one still calls.
pub(crate) const NOTHING_MORE: &str = "nothing more (its program has finished)";

/// The error of a call of one rank that another one, which has finished, has no part in.
fn beside_finished(calls: (usize, String), finished: usize) -> Error {
    let finished = (finished, NOTHING_MORE.to_owned());
    let ((rank, call), (other_rank, other_call)) = if calls < finished { (calls, finished) } else { (finished, calls) };
    Error::Differing { rank, call, other_rank, other_call }
}

/// The error of a message that its receiver has finished without.
pub(crate) fn unread(from: usize, to: usize) -> Error {
    beside_finished((from, format!("something that sends to rank {to}")), to)
}

impl Group {
    /// This rank's program has finished.
    pub(crate) fn finished(&self) -> Result<()> {
        Ok(self.transport().finish()?)
    }

    /// The next message with this tag from a rank, if it has arrived; an error if it will not.
    pub(crate) fn next_of(&self, operation: &str, from: usize, tag: Tag) -> Result<Option<Payload>> {
        let next = || self.try_receive(Some(from), tag).map(|found| found.map(|(_, payload)| payload));
        let found = next()?;
        // Comparisons of calls come from ranks that have finished, too.
        if found.is_some() || self.is_reserved(tag) || !self.has_finished(from)? {
            return Ok(found);
        }
        // What it posted before it finished may have come since the first look.
        let found = next()?;
        found.map_or_else(|| Err(self.fail_beside_finished(operation, from)), |payload| Ok(Some(payload)))
    }

    /// The next message with this tag from any rank, if it has arrived; an error if all others have finished without one.
    pub(crate) fn next_of_any(&self, tag: Tag) -> Result<Option<(usize, Payload)>> {
        let found = self.try_receive(None, tag)?;
        let others = || (0..self.size()).filter(|&rank| rank != self.rank());
        let Some(other) = others().next().filter(|_| found.is_none()) else { return Ok(found) };
        for rank in others() {
            if !self.has_finished(rank)? {
                return Ok(None);
            }
        }
        let found = self.try_receive(None, tag)?;
        found.map_or_else(|| Err(self.fail_beside_finished("receive", other)), |found| Ok(Some(found)))
    }

    fn has_finished(&self, rank: usize) -> Result<bool> {
        Ok(self.transport().has_finished(self.world_rank_of(rank))?)
    }

    /// The error of a wait for a rank that has finished.
    pub(crate) fn fail_beside_finished(&self, operation: &str, peer: usize) -> Error {
        // A failure that it met is the cause.
        if let Err(error) = self.alive() {
            return error;
        }
        let own = (self.world_rank(), self.operation_text(operation));
        self.fail_in(operation, beside_finished(own, self.world_rank_of(peer)))
    }

    /// The failure of this rank's program, told to all ranks. Another rank's may come from a decision that all shared,
    /// after which the others went on: it is told, too.
    pub(crate) fn fail_for_good(&self, error: Error) -> Error {
        if let Error::Remote { rank, operation, message } = &error
            && self.transport().failure().is_none()
        {
            let (rank, operation, message) = (*rank, operation.clone(), message.clone());
            self.transport().fail(&Failure { rank, operation, message });
        }
        self.fail(error)
    }
}
