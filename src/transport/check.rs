//! Comparing the calls of the ranks, so that programs that go apart end with an error that names both calls.
//!
//! * Every message carries the fingerprint of its sender's calls (see [`Tag`](super::Tag)): whoever receives one that is not
//!   its own tells the sender its last calls, and the sender finds the first that differ and tells all ranks.
//! * Ranks that wait for long tell their calls to whom they wait for, as two of them may wait for messages that neither has
//!   sent. Who hears calls that are not its own ends the run alike.
//! * Where calls are compared (debug builds, `ZIPPY_CHECK=1`), each call spreads the smallest and the largest fingerprint over
//!   the group first (dissemination, log₂ P small messages), so that nothing has been moved by calls that differ.

use std::convert::Infallible;
use std::fmt::Display;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::time::Duration;

use super::calls::{Report, Told, Waiting, first_difference, last_calls};
use super::finished::NOTHING_MORE;
use super::payload::{copied, values};
use super::wait::Patience;
use super::{Group, Tag};
use crate::error::{Error, Result, TransportError};

/// The messages of comparisons, beside all exchanges.
const FINGERPRINTS: u64 = 0;
const REPORTS: u64 = 1;
const MEETING: u64 = 2;
/// In the context of the whole run: a rank that waits for long tells what it has called.
const INQUIRY: u64 = 3;

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

/// What two ranks have called that is not the same.
fn difference(own: &[Told], other: &Report) -> Option<(String, String)> {
    if let Some(calls) = first_difference(own, &other.calls) {
        return Some(calls);
    }
    let text = other.apart.clone()?;
    // A rank that has finished, and one that has called as much and waits for a message of it.
    let finished = own.last().is_none_or(|last| last.follows(other.calls.last()) && last.text == NOTHING_MORE);
    Some(if finished { (NOTHING_MORE.into(), text) } else { last_calls(own, &other.calls) })
}

/// The error that names two calls, that of the lower rank first.
fn differing(one: (usize, String), other: (usize, String)) -> Error {
    let ((rank, call), (other_rank, other_call)) = if one.0 < other.0 { (one, other) } else { (other, one) };
    Error::Differing { rank, call, other_rank, other_call }
}

impl Group {
    /// Adds a call to what this rank has called, so that all later messages carry it, and compares it with the other
    /// ranks' at once where that is asked for (see [`checking`](Self::checking)). Collective. `signature` is a fingerprint of
    /// the call with all arguments that must agree; `call` is written only when it differs, with all details in its
    /// alternate form (`{:#}`).
    ///
    /// # Errors
    /// [`Error::Differing`] on every rank, naming two of the calls; and as every collective.
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
        let (one, other) = (self.report_of(first)?, self.report_of(second)?);
        // Nobody goes on, and tells the others of a failure, before all know both calls. With both in hand, what goes wrong
        // from here on is of no interest.
        let _ = self.meet(self.reserved_tag(MEETING));
        let (call, other_call) = difference(&one.calls, &other).unwrap_or_default();
        Err(differing((self.world_rank_of(first), call), (self.world_rank_of(second), other_call)))
    }

    /// What a rank has called, on every rank.
    fn report_of(&self, rank: usize) -> Result<Report> {
        let own = (rank == self.rank()).then(|| self.report(Some(String::new())).encode()).transpose()?;
        Report::decode(&self.broadcast_on(self.reserved_tag(REPORTS), rank, own)?)
    }

    fn report(&self, apart: Option<String>) -> Report {
        Report { context: self.context(), apart, waiting: Vec::new(), calls: self.calls().told() }
    }

    /// Looks at the fingerprint of a message for this tag; the error of calls that differ.
    pub(crate) fn same_calls(&self, from: usize, tag: Tag, found: Tag) -> Result<()> {
        if tag.history() == found.history() { Ok(()) } else { Err(self.gone_apart("a receive", from)) }
    }

    /// The error of a rank whose calls are not those of another one, as a message shows, or its end. Only both together
    /// know which calls differ: the other one hears of this when it next waits, or at its end, and tells all.
    pub(crate) fn gone_apart(&self, operation: &str, peer: usize) -> Error {
        // A failure that it met is the cause.
        if let Err(error) = self.alive() {
            return error;
        }
        let text = self.operation_text(operation);
        if let Err(error) = self.tell_calls(peer, Some(text.clone())) {
            return error;
        }
        let _entered = self.entering(format!("{text} (its calls are not those of rank {})", self.world_rank_of(peer)));
        match self.wait_in(operation, Some(peer), || Ok(None::<Infallible>)) {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    /// Tells a rank of the group, or both neighbours, what this one has called.
    pub(crate) fn ask_about_calls(&self, peer: Option<usize>) -> Result<()> {
        let (rank, size) = (self.rank(), self.size());
        match peer {
            Some(peer) => self.tell_calls(peer, None),
            None => [rank + 1, rank + size - 1].into_iter().try_for_each(|peer| self.tell_calls(peer % size, None)),
        }
    }

    fn tell_calls(&self, peer: usize, apart: Option<String>) -> Result<()> {
        let waiting = self.awaited().map(|(wait, _)| wait).into_iter().collect();
        self.tell(self.world_rank_of(peer), &Report { waiting, ..self.report(apart) })
    }

    /// Tells a rank of the run.
    fn tell(&self, world_rank: usize, report: &Report) -> Result<()> {
        match world_rank == self.world_rank() {
            true => Ok(()),
            false => Ok(self.transport().post(world_rank, Tag::reserved(0, INQUIRY), report.encode()?)?),
        }
    }

    /// This rank's wait for a message, where it waits for one of a certain rank of the run.
    fn awaited(&self) -> Option<(Waiting, usize)> {
        let (tag, peer) = self.station().awaited.get()?;
        let group = self.alive_in(tag.context())?;
        let place = if tag.context() == 0 { String::new() } else { format!(" of a group of {}", group.size()) };
        let text = format!("{}{place}", group.calls().last_text());
        let exchange = (!tag.is_reserved()).then(|| tag.sequence());
        let (rank, context, calls) = (self.world_rank(), tag.context(), group.calls().number());
        Some((Waiting { rank, context, calls, exchange, text }, peer))
    }

    /// Whether this rank may have sent what another one waits for.
    fn has_come_to(&self, wait: &Waiting) -> bool {
        self.alive_in(wait.context).is_none_or(|group| {
            group.calls().number() >= wait.calls && wait.exchange.is_none_or(|exchange| group.sequence() > exchange)
        })
    }

    /// Follows ranks of which each waits, in whatever group, for a message of a call that the next one has not come to. Where
    /// that leads back to a rank that still waits for what it did, none of them can go on.
    fn follow(&self, mut waiting: Vec<Waiting>) -> Result<()> {
        let (Some(last), Some((own, peer))) = (waiting.last().cloned(), self.awaited()) else { return Ok(()) };
        if self.has_come_to(&last) {
            return Ok(());
        }
        match waiting.iter().find(|wait| wait.rank == own.rank) {
            Some(wait) if *wait == own => {
                Err(self.fail_in("a wait", differing((own.rank, own.text), (last.rank, last.text))))
            }
            Some(_) => Ok(()),
            None => {
                waiting.push(own);
                self.tell(peer, &Report { waiting, ..self.report(None) })
            }
        }
    }

    /// Takes in what ranks that wait have told of their calls.
    ///
    /// # Errors
    /// [`Error::Differing`] where they are not this rank's, told to all ranks.
    pub(crate) fn hear_of_calls(&self) -> Result<()> {
        while let Some(received) = self.transport().poll(None, Tag::reserved(0, INQUIRY))? {
            let report = Report::decode(&received.payload)?;
            let own = self.alive_in(report.context).map_or_else(Vec::new, |group| group.calls().told());
            let Some((call, other_call)) = difference(&own, &report) else {
                self.follow(report.waiting)?;
                continue;
            };
            let error = differing((self.world_rank(), call), (received.from, other_call));
            return Err(self.fail_in("a comparison of calls", error));
        }
        Ok(())
    }

    /// The end of a rank's program, a call like others: meets all that still call something. Waits without limit, as others
    /// may compute for long; should one of them fail, this ends with its failure.
    pub(crate) fn finish(&self) -> Result<()> {
        let patience = self.patience();
        self.set_patience(Patience { warn_after: Duration::MAX, timeout: None });
        let call: Rc<dyn Display> = Rc::new(NOTHING_MORE);
        let noted = self.check_shared(0, Rc::clone(&call));
        let result = noted.and_then(|()| if self.checking() { Ok(()) } else { self.compare(&call) });
        self.set_patience(patience);
        result
    }
}
