//! What ranks that wait for long say to one another, so that programs that have gone apart without a message end with an
//! error that names both calls.
//!
//! A rank that waits says whom it waits for and the fingerprint of its calls: a message of a few bytes, of which one is under
//! way at most between two ranks, since who computes takes none in. Where fingerprints differ, the calls themselves follow.

use std::convert::Infallible;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::calls::{NOTHING_MORE, Told, first_difference, last_calls};
use super::members::GroupId;
use super::payload::{decoded, encoded};
use super::{Group, Tag};
use crate::error::{Error, ErrorKind, Result};

/// A rank that waits for a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Waiting {
    /// In the run.
    rank: usize,
    /// Whose message it waits for.
    peer: usize,
    /// Its last call in the group in which it waits.
    text: String,
    /// How many calls that is, and how much has come from the rank that it waits for: the same while it waits.
    calls: u64,
    come: u64,
}

/// What ranks that wait say to those whom they wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Inquiry {
    /// The sender has made so many calls in this group, with this fingerprint. Of the ranks in the list each waits for the
    /// next one; the sender is the last and waits for the receiver. A rank has one of these under way to another at most, as
    /// the receiver may be busy for as long as it likes.
    Ask { group: GroupId, calls: u64, history: u64, waiting: Vec<Waiting> },
    /// It has been taken in.
    Heard,
    /// The sender's calls are not the receiver's, or it waits for what will not come; what it does, and its last calls.
    Apart { group: GroupId, text: String, calls: Vec<Told> },
}

/// The error that names two calls, that of the lower rank first.
pub(crate) fn differing(one: (usize, String), other: (usize, String)) -> Error {
    let ((rank, call), (other_rank, other_call)) = if one.0 < other.0 { (one, other) } else { (other, one) };
    ErrorKind::Differing { rank, call, other_rank, other_call }.into()
}

impl Group {
    /// Looks at the fingerprint of a message for this tag; the error of calls that differ.
    #[inline]
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
        if let Err(error) = self.say(self.world_rank_of(peer), &self.apart(text.clone())) {
            return error;
        }
        let _entered = self.entering(format!("{text} (its calls are not those of rank {})", self.world_rank_of(peer)));
        match self.wait_in(operation, Some(peer), || Ok(None::<Infallible>)) {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    fn apart(&self, text: String) -> Inquiry {
        Inquiry::Apart { group: self.id(), text, calls: self.calls().told() }
    }

    fn say(&self, world_rank: usize, inquiry: &Inquiry) -> Result<()> {
        match world_rank == self.world_rank() {
            true => Ok(()),
            false => Ok(self.transport().post(world_rank, Tag::inquiry(), encoded(inquiry)?)?),
        }
    }

    /// Tells a rank of the group, or both neighbours, that this one waits.
    pub(crate) fn ask(&self, peer: Option<usize>) -> Result<()> {
        let (rank, size) = (self.rank(), self.size());
        match peer {
            Some(peer) => {
                let waiting = self.awaited()?.map(|(wait, _)| wait);
                self.ask_rank(self.world_rank_of(peer), waiting.into_iter().collect())
            }
            None => [rank + 1, rank + size - 1]
                .into_iter()
                .try_for_each(|peer| self.ask_rank(self.world_rank_of(peer % size), Vec::new())),
        }
    }

    fn ask_rank(&self, world_rank: usize, waiting: Vec<Waiting>) -> Result<()> {
        if world_rank == self.world_rank() || !self.station().asked.borrow_mut().insert(world_rank) {
            return Ok(());
        }
        let (group, calls, history) = (self.id(), self.calls().number(), self.calls().history());
        self.say(world_rank, &Inquiry::Ask { group, calls, history, waiting })
    }

    /// Takes in what ranks that wait have said.
    ///
    /// # Errors
    /// [`ErrorKind::Differing`](crate::error::ErrorKind::Differing) where their calls are not this rank's, told to all ranks.
    pub(crate) fn hear(&self) -> Result<()> {
        while let Some(received) = self.transport().poll(None, Tag::inquiry())? {
            match decoded(&received.payload)? {
                Inquiry::Heard => {
                    self.station().heard.set(Some(Instant::now()));
                    self.station().asked.borrow_mut().remove(&received.from);
                }
                Inquiry::Ask { group, calls, history, waiting } => {
                    let posted = self.transport().posted_to(received.from);
                    self.say(received.from, &Inquiry::Heard)?;
                    let asked = self.alive_in(group);
                    // Where this rank is not so far yet, it may still come to that.
                    let own = asked.as_ref().and_then(|asked| asked.calls().history_of(calls));
                    match asked.filter(|_| own.is_some_and(|own| own != history)) {
                        Some(asked) => self.say(received.from, &asked.apart(asked.calls().last_text()))?,
                        None => self.follow(waiting, posted)?,
                    }
                }
                Inquiry::Apart { group, text, calls } => {
                    let own = self.alive_in(group).map_or_else(Vec::new, |group| group.calls().told());
                    let (call, other_call) = self.difference(&own, &calls, text);
                    let error = differing((self.world_rank(), call), (received.from, other_call));
                    return Err(self.fail_in("a comparison of calls", error));
                }
            }
        }
        Ok(())
    }

    /// What two ranks have called that is not the same; `text` is what the other one does.
    fn difference(&self, own: &[Told], other: &[Told], text: String) -> (String, String) {
        if let Some(calls) = first_difference(own, other) {
            return calls;
        }
        match own.last() {
            // It has finished, and the other one, which has called as much, waits for a message of it.
            Some(last) if last.text == NOTHING_MORE && last.follows(other.last()) => (NOTHING_MORE.into(), text),
            None if self.station().finished.get() => (NOTHING_MORE.into(), text),
            None => ("nothing in this group, or has left it".into(), text),
            Some(_) => last_calls(own, other),
        }
    }

    /// This rank's wait for a message, where it waits for one of a certain rank of the run.
    fn awaited(&self) -> Result<Option<(Waiting, usize)>> {
        let Some((id, peer, Some(come))) = self.station().awaited.get() else { return Ok(None) };
        let Some(group) = self.alive_in(id) else { return Ok(None) };
        let place = if id.context == 0 { String::new() } else { format!(" of a group of {}", group.size()) };
        let text = format!("{}{place}", group.calls().last_text());
        Ok(Some((Waiting { rank: self.world_rank(), peer, text, calls: group.calls().number(), come }, peer)))
    }

    /// Follows ranks of which each waits for a message that the next one has not sent, in whatever groups: this rank for
    /// one, which has `posted` so much to the last of them. Where that leads back to a rank that still waits for what it did,
    /// none of them can go on.
    fn follow(&self, mut waiting: Vec<Waiting>, posted: u64) -> Result<()> {
        if waiting.last().is_none_or(|last| last.come != posted) {
            return Ok(());
        }
        let Some((own, peer)) = self.awaited()? else { return Ok(()) };
        let Some(place) = waiting.iter().position(|wait| wait.rank == own.rank) else {
            waiting.push(own);
            return self.ask_rank(peer, waiting);
        };
        let circle = &waiting[place..];
        if circle[0] != own {
            return Ok(());
        }
        // Two that do not call the same, where there are.
        let next = |place: usize| &circle[(place + 1) % circle.len()];
        let place = (0..circle.len()).find(|&place| circle[place].text != next(place).text).unwrap_or(0);
        let named = |wait: &Waiting| (wait.rank, wait.text.clone());
        Err(self.fail_in("a wait", differing(named(&circle[place]), named(next(place)))))
    }

    /// The group of this name that this rank is in.
    fn alive_in(&self, id: GroupId) -> Option<Self> {
        self.group_of_context(id.context).filter(|group| group.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::transport::calls::{CallText, Calls};
    use crate::transport::payload::copied;

    #[test]
    fn inquiries_travel() {
        let own = Calls::default();
        own.add(7, 3, CallText::Shared(Rc::new("a call")));
        let calls = own.told();
        let (group, text) = (GroupId { context: 5, start: 1 << 40 }, "receive".to_owned());
        let waiting = vec![Waiting { rank: 3, peer: 4, text: text.clone(), calls: 1, come: 1 << 40 }];
        let ask = Inquiry::Ask { group, calls: 1, history: own.history(), waiting };
        for inquiry in [ask, Inquiry::Heard, Inquiry::Apart { group, text, calls: calls.clone() }] {
            assert_eq!(decoded::<Inquiry>(&encoded(&inquiry).unwrap()).unwrap(), inquiry);
        }
        assert!(decoded::<Inquiry>(&copied(&[9_u8, 200])).is_err());
    }
}
