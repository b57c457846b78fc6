//! Comparing the calls of the ranks, so that programs that go apart end with an error that names both calls.
//!
//! * Every message carries the fingerprint of its sender's calls (see [`Tag`](super::Tag)): whoever receives one that is not
//!   its own tells the sender its last calls, and the sender finds the first that differ and tells all ranks.
//! * Ranks that wait for long say so to whom they wait for, with the fingerprint of their calls, as two of them may wait for
//!   messages that neither has sent. See `inquiry.rs`.
//! * Where calls are compared (debug builds, `ZIPPY_CHECK=1`), each call spreads the smallest and the largest fingerprint over
//!   the group first (dissemination, log₂ P small messages), so that nothing has been moved by calls that differ.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::time::Duration;

use super::Group;
use super::calls::{Inquiry, Told, first_difference, last_calls};
use super::finished::NOTHING_MORE;
use super::inquiry::differing;
use super::payload::{copied, values};
use super::wait::Patience;
use crate::error::{Result, TransportError};

/// The messages of comparisons, beside all exchanges.
const FINGERPRINTS: u64 = 0;
const REPORTS: u64 = 1;
const MEETING: u64 = 2;

/// A collective and the arguments that must agree.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    name: &'static str,
    argument: Option<(&'static str, usize)>,
}

impl Call {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, argument: None }
    }

    pub(crate) fn of(self, argument: &'static str, value: usize) -> Self {
        Self { argument: Some((argument, value)), ..self }
    }

    fn signature(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.name, self.argument).hash(&mut hasher);
        hasher.finish()
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)?;
        match self.argument {
            Some((argument, value)) => write!(f, "({argument} {value})"),
            None => f.write_str("()"),
        }
    }
}

/// What a rank does before a call.
struct Comparison(Rc<dyn Display>);

impl Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the comparison of {}", self.0)
    }
}

impl Group {
    /// Adds a call to what this rank has called, so that all later messages carry it, and compares it with the other
    /// ranks' at once where that is asked for (see [`checking`](Self::checking)). Collective. `signature` is a fingerprint of
    /// the call with all arguments that must agree; `call` is written only when it differs, with all details in its
    /// alternate form (`{:#}`).
    ///
    /// # Errors
    /// [`Error::Differing`](crate::Error::Differing) on every rank, naming two of the calls; and as every collective.
    pub fn check(&self, signature: u64, call: impl Display + 'static) -> Result<()> {
        self.check_shared(signature, Rc::new(call))
    }

    pub(crate) fn check_shared(&self, signature: u64, call: Rc<dyn Display>) -> Result<()> {
        self.alive()?;
        if !self.compared() || self.size() == 1 {
            return Ok(());
        }
        self.note(signature, Rc::clone(&call));
        if self.checking() { self.compare(&call) } else { Ok(()) }
    }

    /// Adds something that all ranks must have done alike, without comparing it yet.
    pub(crate) fn note(&self, signature: u64, call: Rc<dyn Display>) {
        self.calls().add(signature, self.sequence(), call);
    }

    pub(crate) fn check_call(&self, call: Call) -> Result<()> {
        self.check(call.signature(), call)
    }

    fn compare(&self, call: &Rc<dyn Display>) -> Result<()> {
        let _entered = self.entering(Comparison(Rc::clone(call)));
        let own = (self.calls().history(), self.rank() as u64);
        let (mut low, mut high) = (own, own);
        let tag = self.reserved_tag(FINGERPRINTS);
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
        let _ = self.meet(self.reserved_tag(MEETING));
        let (call, other_call) = first_difference(&one, &other).unwrap_or_else(|| last_calls(&one, &other));
        Err(differing((self.world_rank_of(first), call), (self.world_rank_of(second), other_call)))
    }

    /// What a rank has called, on every rank.
    fn calls_of(&self, rank: usize) -> Result<Vec<Told>> {
        let own = (rank == self.rank()).then(|| self.apart(String::new()).encode()).transpose()?;
        match Inquiry::decode(&self.broadcast_on(self.reserved_tag(REPORTS), rank, own)?)? {
            Inquiry::Apart { calls, .. } => Ok(calls),
            _ => Err(TransportError::Other("a comparison of calls arrived malformed".into()).into()),
        }
    }

    /// The end of a rank's program, a call like others: meets all that still call something. Waits without limit, as others
    /// may compute for long; should one of them fail, this ends with its failure.
    pub(crate) fn finish(&self) -> Result<()> {
        let patience = self.patience();
        // It is said, though, when one of them takes longer than waits may.
        self.set_patience(Patience { warn_after: patience.timeout.unwrap_or(Duration::MAX), timeout: None });
        let call: Rc<dyn Display> = Rc::new(NOTHING_MORE);
        let noted = self.check_shared(0, Rc::clone(&call));
        let result = noted.and_then(|()| if self.checking() { Ok(()) } else { self.compare(&call) });
        self.set_patience(patience);
        result
    }
}
