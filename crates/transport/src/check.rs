//! Comparison of the calls of the ranks of a group. Ranks that have called different operations end
//! with an error that contains both calls.
//!
//! * Every message carries the fingerprint of its sender's calls (see [`Tag`](super::Tag)). A
//!   receiver with another fingerprint sends its last calls to the sender; the sender finds the
//!   first calls that differ and reports them to all ranks.
//! * A rank in a long wait sends the fingerprint of its calls to the awaited rank, as two ranks may
//!   wait for messages that neither has sent. See `wait_report.rs`.
//! * With checks (debug builds, `ZIPPY_CHECK=1`), each call first spreads the smallest and the
//!   largest fingerprint over the group (dissemination, log₂ P small messages), so calls that
//!   differ move no data.

use std::fmt::Display;
use std::rc::Rc;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::calls::{CallSummary, CallText, CollectiveCall, NOTHING_MORE, first_different_calls, last_calls};
use super::payload::{copied, decoded, encoded, values};
use super::wait_report::differing_calls;
use super::{Group, ReservedTag};
use zippy_base::error::{CallSite, Result, TransportError};

/// Number of calls between two reads of the clock, if calls follow each other quickly.
const CALLS_WITHOUT_POLL: u8 = 3;

/// Name of the operation that compares a call between ranks.
struct Comparison(CallText);

impl Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the comparison of {}", self.0)
    }
}

impl Group {
    /// Records a call of this rank. Collective.
    ///
    /// All later messages carry the fingerprint of the call, so ranks with other calls are
    /// detected. With [`Config::check`](super::Config::check), the ranks compare the call at once,
    /// with log₂ P messages per rank; without it, no message is sent.
    ///
    /// `signature` is a fingerprint of the call with all arguments that must be equal on all ranks.
    /// `call` is the text of the call for errors; its alternate form (`{:#}`) contains all details.
    /// It is formatted only if calls differ.
    ///
    /// # Errors
    /// [`ErrorKind::Differing`](zippy_base::error::ErrorKind::Differing) with two of the calls, on
    /// every rank; and the errors of every collective (see [`barrier`](Self::barrier)).
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

    /// Polls for wait messages if the last poll is long ago. The clock is read at each call if
    /// calls are slow, and at few calls if they follow each other quickly, as reading the clock
    /// would cost too much there.
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

    /// Records a call that all ranks must make, without comparing it yet.
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
            // The lowest rank among equal fingerprints, so that the error does not depend on the
            // number of rounds.
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
        let (one, other) = (self.calls_of(first)?, self.calls_of(second)?);
        // No rank may continue, and so report a failure, before all ranks have both calls. An error
        // of the barrier does not matter, as both calls are known here.
        let _ = self.barrier_on(self.reserved_tag(ReservedTag::Barrier));
        let (call, other_call) = first_different_calls(&one, &other).unwrap_or_else(|| last_calls(&one, &other));
        Err(differing_calls((self.world_rank_of(first), call), (self.world_rank_of(second), other_call)))
    }

    /// Returns the recorded calls of `rank` on every rank. Collective.
    fn calls_of(&self, rank: usize) -> Result<Vec<CallSummary>> {
        self.broadcast_value(rank, ReservedTag::Calls, || self.calls().summaries())
    }

    /// Broadcasts the result of `value` from `rank` to all ranks, without a comparison of calls.
    /// Collective.
    pub(crate) fn broadcast_value<T: Serialize + DeserializeOwned>(
        &self,
        rank: usize,
        purpose: ReservedTag,
        value: impl FnOnce() -> T,
    ) -> Result<T> {
        let payload = (rank == self.rank()).then(|| encoded(&value())).transpose()?;
        decoded(&self.broadcast_on(self.reserved_tag(purpose), rank, payload)?)
    }

    /// Ends the program of this rank: compares the last call, the end of the program, with the
    /// calls of all other ranks, and compares the calls in sub-groups. Collective over all ranks of
    /// the run.
    ///
    /// Other ranks may still compute for long. A wait fails only if the awaited rank has answered
    /// nothing for twice the time limit of other waits, and warns after half of that.
    ///
    /// # Errors
    /// The failure of another rank;
    /// [`ErrorKind::Differing`](zippy_base::error::ErrorKind::Differing); a timeout.
    pub(crate) fn finish(&self) -> Result<()> {
        let patience = self.patience();
        self.set_patience(patience.at_the_end());
        self.note(0, Rc::new(NOTHING_MORE));
        let entered = self.entering("the end of the run");
        let compared = self.alive().and_then(|()| self.compare());
        let result = compared.and_then(|()| self.compare_sub_groups());
        drop(entered);
        self.set_patience(patience);
        result
    }
}
