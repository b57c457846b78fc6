//! Comparing the calls of the ranks, so that programs that go apart end with an error that names both calls.
//!
//! Each compared call spreads the smallest and the largest fingerprint over the group (dissemination, log₂ P small
//! messages). Comparisons have tags of their own, which do not count, so that they meet whatever the ranks call.

use std::fmt::{Display, Write};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::finished::NOTHING_MORE;
use super::payload::{copied, values};
use super::wait::Patience;
use super::{Group, Payload};
use crate::error::{Error, Result, TransportError};

/// A collective and the arguments that must agree.
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

impl Group {
    /// Compares this call with those of the other ranks, if calls are compared at all (see [`checking`](Self::checking)).
    /// Collective. `signature` is a fingerprint of the call with all arguments that must agree; `describe` is called
    /// only when it differs.
    ///
    /// # Errors
    /// [`Error::Differing`] on every rank, naming two of the calls; and as every collective.
    pub fn check(&self, signature: u64, describe: impl Fn() -> String) -> Result<()> {
        self.alive()?;
        if !self.checking() || self.size() == 1 {
            return Ok(());
        }
        let mut hasher = DefaultHasher::new();
        (signature, self.sequence()).hash(&mut hasher);
        let own = (hasher.finish(), self.rank() as u64);
        let (mut low, mut high) = (own, own);
        let tag = self.reserved_tag(0);
        let (rank, size) = (self.rank(), self.size());
        let text = || format!("the comparison of {}", describe());
        let mut distance = 1;
        while distance < size {
            self.send((rank + distance) % size, tag, copied(&[low.0, low.1, high.0, high.1]))?;
            let from = (rank + size - distance) % size;
            let theirs = match self.try_receive(Some(from), tag)? {
                Some((_, payload)) => payload,
                None => self.receive_in(&text(), from, tag)?,
            };
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
        let first = low.1.min(high.1) as usize;
        let second = low.1.max(high.1) as usize;
        let (mut call, number) = self.call_of(first, &describe)?;
        let (mut other_call, other_number) = self.call_of(second, &describe)?;
        if call == other_call {
            let _ = write!(call, " (call {number} of its group)");
            let _ = write!(other_call, " (call {other_number} of its group)");
        }
        // Nobody goes on, and tells the others of a failure, before all know both calls. With both in hand, what goes wrong
        // from here on is of no interest.
        let _ = self.meet(self.reserved_tag(2));
        let (rank, other_rank) = (self.world_rank_of(first), self.world_rank_of(second));
        Err(Error::Differing { rank, call, other_rank, other_call })
    }

    /// What a rank called, as text, and its number.
    fn call_of(&self, rank: usize, describe: impl Fn() -> String) -> Result<(String, u32)> {
        let own = (rank == self.rank()).then(|| {
            let mut bytes = self.sequence().to_ne_bytes().to_vec();
            bytes.extend_from_slice(describe().as_bytes());
            Box::new(bytes) as Payload
        });
        let bytes = self.broadcast_on(self.reserved_tag(1), rank, own)?;
        let Some((number, text)) = (*bytes).as_ref().split_first_chunk() else {
            return Err(TransportError::Other("the text of a call arrived malformed".into()).into());
        };
        Ok((String::from_utf8_lossy(text).into_owned(), u32::from_ne_bytes(*number)))
    }

    pub(crate) fn check_call(&self, call: Call) -> Result<()> {
        self.check(call.signature(), || call.to_string())
    }

    /// The end of a rank's program: meets the comparison of a rank that still calls something. Waits without limit, as
    /// others may compute for long; should one of them fail, this ends with its failure.
    pub(crate) fn finish(&self) -> Result<()> {
        let patience = self.patience();
        self.set_patience(Patience { warn_after: Duration::MAX, timeout: None });
        let call = Call::new(NOTHING_MORE);
        let result = self.check(call.signature(), || call.name.to_owned());
        self.set_patience(patience);
        result
    }
}
