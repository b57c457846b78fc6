//! Comparing the calls of the ranks, so that programs that go apart end with an error that names both calls.
//!
//! * Every message carries the fingerprint of its sender's calls (see [`Tag`](super::Tag)): whoever receives one that is not
//!   its own tells the sender its last calls, and the sender finds the first that differ and tells all ranks.
//! * Ranks that wait for long say so to whom they wait for, with the fingerprint of their calls, as two of them may wait for
//!   messages that neither has sent. See `inquiry.rs`.
//! * Where calls are compared (debug builds, `ZIPPY_CHECK=1`), each call spreads the smallest and the largest fingerprint over
//!   the group first (dissemination, log₂ P small messages), so that nothing has been moved by calls that differ.

use std::fmt::Display;
use std::rc::Rc;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::calls::{Brief, CallText, NOTHING_MORE, Told, first_difference, last_calls};
use super::inquiry::differing;
use super::payload::{copied, decoded, encoded, values};
use super::{Beside, Group};
use crate::error::{CallSite, Result, TransportError};

/// Where calls come fast, so many go by without a look at the clock.
const CALLS_UNLOOKED: u8 = 3;

/// What a rank does before a call.
struct Comparison(CallText);

impl Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the comparison of {}", self.0)
    }
}

impl Group {
    /// Adds a call to what this rank has called. Collective.
    ///
    /// All later messages carry it, so that ranks that have called something else are found. Where calls are compared ahead
    /// ([`Config::check`](super::Config::check)), that happens at once.
    ///
    /// `signature` is a fingerprint of the call with all arguments that must agree. `call` is written only where calls
    /// differ; its alternate form (`{:#}`) has all details.
    ///
    /// # Errors
    /// [`ErrorKind::Differing`](crate::error::ErrorKind::Differing) on every rank, naming two of the calls; and as every collective.
    #[track_caller]
    pub fn check(&self, signature: u64, call: impl Display + 'static) -> Result<()> {
        let _call = CallSite::enter();
        self.check_shared(signature, Rc::new(call))
    }

    pub(crate) fn check_shared(&self, signature: u64, call: Rc<dyn Display>) -> Result<()> {
        self.check_text(signature, CallText::Shared(call))
    }

    pub(crate) fn check_brief(&self, call: Brief) -> Result<()> {
        self.check_text(call.signature(), CallText::Brief(call))
    }

    fn check_text(&self, signature: u64, call: CallText) -> Result<()> {
        self.alive()?;
        if !self.compared() || self.size() == 1 {
            return Ok(());
        }
        self.listen_at_some_calls()?;
        if !self.checking() {
            self.calls().add(signature, self.sequence(), call);
            return Ok(());
        }
        self.calls().add(signature, self.sequence(), call.clone());
        let _entered = self.entering(Comparison(call));
        self.compare()
    }

    /// Listens to ranks that wait if that was long ago. To look at the clock at each call would cost too much where calls come
    /// fast; where they come slowly it is looked at each time.
    fn listen_at_some_calls(&self) -> Result<()> {
        let unlooked = &self.station().unlooked;
        if unlooked.get() > 0 {
            unlooked.set(unlooked.get() - 1);
            return Ok(());
        }
        if !self.listen_now_and_then(Instant::now())? {
            unlooked.set(CALLS_UNLOOKED);
        }
        Ok(())
    }

    /// Adds something that all ranks must have done alike, without comparing it yet.
    pub(crate) fn note(&self, signature: u64, call: Rc<dyn Display>) {
        self.calls().add(signature, self.sequence(), CallText::Shared(call));
    }

    fn compare(&self) -> Result<()> {
        let own = (self.calls().history(), self.rank() as u64);
        let (mut low, mut high) = (own, own);
        let tag = self.tag_beside(Beside::Fingerprints);
        let (rank, size) = (self.rank(), self.size());
        let mut distance = 1;
        while distance < size {
            self.send((rank + distance) % size, tag, copied(&[low.0, low.1, high.0, high.1]))?;
            let theirs = self.receive((rank + size - distance) % size, tag)?;
            let [low_hash, low_rank, high_hash, high_rank] = values::<u64>(&theirs)?[..] else {
                return Err(TransportError::Other("a comparison of calls arrived malformed".into()).into());
            };
            low = low.min((low_hash, low_rank));
            // The lowest rank among equals on both sides, so that the message does not depend on the number of rounds.
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
        // Nobody goes on, and tells the others of a failure, before all know both calls. With both in hand, what goes wrong
        // from here on is of no interest.
        let _ = self.meet(self.tag_beside(Beside::Meeting));
        let (call, other_call) = first_difference(&one, &other).unwrap_or_else(|| last_calls(&one, &other));
        Err(differing((self.world_rank_of(first), call), (self.world_rank_of(second), other_call)))
    }

    /// What a rank has called, on every rank.
    fn calls_of(&self, rank: usize) -> Result<Vec<Told>> {
        self.told_by(rank, Beside::Calls, || self.calls().told())
    }

    /// What a rank tells, on every rank.
    pub(crate) fn told_by<T: Serialize + DeserializeOwned>(
        &self,
        rank: usize,
        which: Beside,
        own: impl FnOnce() -> T,
    ) -> Result<T> {
        let own = (rank == self.rank()).then(|| encoded(&own())).transpose()?;
        decoded(&self.broadcast_on(self.tag_beside(which), rank, own)?)
    }

    /// The end of a rank's program, a call like others: meets all that still call something, and compares what was called
    /// in sub-groups. Others may compute for long: each wait ends with an error only when the other rank has given no sign of
    /// life for twice the time of other waits, and says so when half of that is over. Should a rank fail, this ends with its
    /// failure.
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
