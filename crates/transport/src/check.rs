//! Comparison of the calls of a group's ranks. Ranks that have called different operations fail
//! with an error that names both calls.
//!
//! * Every message contains the fingerprint of its sender's calls (see [`Tag`](super::Tag)). A
//!   receiver with a different fingerprint replies with its last calls; the sender finds the first
//!   difference and reports it to all ranks.
//! * In a long wait, a rank sends its fingerprint to the awaited rank, as both may wait for
//!   messages that neither has sent. See `wait_report.rs`.
//! * With checks (debug builds, `ZIPPY_CHECK=1`), each call first reduces the minimum and maximum
//!   fingerprint of the group (dissemination, log₂ P small messages), so that different calls move
//!   no data.

use std::fmt::Display;
use std::rc::Rc;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::calls::{CallSummary, CallText, CollectiveCall, NOTHING_MORE, first_different_calls, last_calls};
use super::payload::{copied, decoded, encoded, values};
use super::wait_report::{RankCall, differing_calls};
use super::{Group, ReservedTag};
use zippy_base::error::{CallSite, Result, TransportError};

/// Number of calls in quick succession between two reads of the clock.
const CALLS_WITHOUT_POLL: u8 = 3;

struct Comparison(CallText);

impl Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the comparison of {}", self.0)
    }
}

impl Group {
    /// Records a call of this rank. All later messages contain its fingerprint. Collective.
    ///
    /// With [`Config::check`](super::Config::check), the ranks compare the call at once, with log₂
    /// P messages per rank; otherwise the method sends no message.
    ///
    /// `signature` is a fingerprint of the call with all arguments that must be equal on all ranks.
    /// `call` is the text for errors, formatted only for different calls; its alternate form
    /// (`{:#}`) contains all details.
    ///
    /// # Errors
    /// [`ErrorKind::Differing`](zippy_base::error::ErrorKind::Differing) with two of the calls, on
    /// every rank, and the errors of every collective (see [`barrier`](Self::barrier)).
    #[track_caller]
    pub fn check(&self, signature: u64, call: impl Display + 'static) -> Result<()> {
        let _call = CallSite::enter();
        self.check_shared(signature, Rc::new(call))
    }

    #[doc(hidden)]
    pub fn check_shared(&self, signature: u64, call: Rc<dyn Display>) -> Result<()> {
        self.check_text(signature, CallText::Shared(call))
    }

    pub(crate) fn check_collective(&self, call: CollectiveCall) -> Result<()> {
        self.check_text(call.signature(), CallText::Collective(call))
    }

    fn check_text(&self, signature: u64, call: CallText) -> Result<()> {
        self.alive()?;
        if !self.compared() || self.size() == 1 {
            return Ok(());
        }
        self.receive_wait_messages_at_some_calls()?;
        if !self.checking() {
            self.calls().add(signature, self.sequence(), call);
            return Ok(());
        }
        self.calls().add(signature, self.sequence(), call.clone());
        let _entered = self.entering(Comparison(call));
        self.compare()
    }

    /// Polls for wait messages at an interval. After a quick succession of calls, the next calls
    /// skip the clock and its cost.
    fn receive_wait_messages_at_some_calls(&self) -> Result<()> {
        let calls_until_poll = &self.rank_state().calls_until_poll;
        if calls_until_poll.get() > 0 {
            calls_until_poll.set(calls_until_poll.get() - 1);
            return Ok(());
        }
        if !self.receive_wait_messages_if_due(Instant::now())? {
            calls_until_poll.set(CALLS_WITHOUT_POLL);
        }
        Ok(())
    }

    /// Records a collective call without a comparison at this point.
    #[doc(hidden)]
    pub fn note(&self, signature: u64, call: Rc<dyn Display>) {
        self.calls().add(signature, self.sequence(), CallText::Shared(call));
    }

    fn compare(&self) -> Result<()> {
        let own = (self.calls().fingerprint(), self.rank() as u64);
        let (mut low, mut high) = (own, own);
        let tag = self.reserved_tag(ReservedTag::Fingerprints);
        let (rank, size) = (self.rank(), self.size());
        let mut distance = 1;
        while distance < size {
            self.send((rank + distance) % size, tag, copied(&[low.0, low.1, high.0, high.1]))?;
            let theirs = self.receive((rank + size - distance) % size, tag)?;
            let [low_hash, low_rank, high_hash, high_rank] = values::<u64>(&theirs)?[..] else {
                return Err(TransportError::Other("a message of the comparison of calls is malformed".into()).into());
            };
            low = low.min((low_hash, low_rank));
            // The lowest rank of equal fingerprints, for the same error after any number of rounds.
            high = if (high_hash, u64::MAX - high_rank) > (high.0, u64::MAX - high.1) {
                (high_hash, high_rank)
            } else {
                high
            };
            distance *= 2;
        }
        if low.0 == high.0 {
            return Ok(());
        }
        let (first, second) = (low.1.min(high.1) as usize, low.1.max(high.1) as usize);
        let (first_calls, second_calls) = (self.calls_of(first)?, self.calls_of(second)?);
        // All ranks must have both calls before one rank fails. Both calls are known here, so an
        // error of the barrier does not matter.
        let _ = self.barrier_on(self.reserved_tag(ReservedTag::Barrier));
        let (call, other_call) = first_different_calls(&first_calls, &second_calls)
            .unwrap_or_else(|| last_calls(&first_calls, &second_calls));
        Err(differing_calls(
            RankCall { rank: self.world_rank_of(first), call },
            RankCall { rank: self.world_rank_of(second), call: other_call },
        ))
    }

    fn calls_of(&self, rank: usize) -> Result<Vec<CallSummary>> {
        self.broadcast_value(rank, ReservedTag::Calls, || self.calls().summaries())
    }

    /// Broadcasts the result of `value` on rank `rank`, without a comparison of calls. Collective.
    pub(crate) fn broadcast_value<T: Serialize + DeserializeOwned>(
        &self,
        rank: usize,
        purpose: ReservedTag,
        value: impl FnOnce() -> T,
    ) -> Result<T> {
        let payload = (rank == self.rank()).then(|| encoded(&value())).transpose()?;
        decoded(&self.broadcast_on(self.reserved_tag(purpose), rank, payload)?)
    }

    /// Ends this rank's program: compares the end of the program, as a last call, with the calls of
    /// all other ranks, and the calls in sub-groups. Collective over all ranks of the run.
    ///
    /// A wait fails if the awaited rank gives no answer for twice the usual time limit, with a
    /// warning at half, since other ranks may compute for long.
    pub(crate) fn finish(&self) -> Result<()> {
        let wait_limits = self.wait_limits();
        self.set_wait_limits(wait_limits.after_finish());
        self.note(0, Rc::new(NOTHING_MORE));
        let entered = self.entering("the end of the run");
        let compared = self.alive().and_then(|()| self.compare());
        let result = compared.and_then(|()| self.compare_sub_groups());
        drop(entered);
        self.set_wait_limits(wait_limits);
        result
    }
}
