//! Messages between ranks in long waits. They detect different calls and cycles of waits that no
//! other message reveals.
//!
//! A waiting rank sends a report with the fingerprint of its calls to the awaited rank. At most one
//! report per pair of ranks is in flight, since a computing rank receives none. For different
//! fingerprints, the awaited rank replies with its calls. If the awaited rank also waits, it
//! appends its wait to the report and forwards it. A report that returns to a rank in it proves a
//! cycle (edge chasing; Chandy, Misra, Haas, *Distributed Deadlock Detection*, 1983).

use std::convert::Infallible;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::calls::{CallSummary, NOTHING_MORE, first_different_calls, last_calls};
use super::members::GroupId;
use super::payload::{decoded, encoded};
use super::{Group, Tag};
use zippy_base::error::{Error, ErrorKind, Result};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct WaitingRank {
    /// World rank.
    rank: usize,
    /// World rank of the awaited rank.
    peer: usize,
    /// The rank's last call in the group of its wait.
    text: String,
    /// Number of the rank's calls in that group, and number of messages that have arrived from the
    /// awaited rank. Both are constant during the wait.
    calls: u64,
    arrived: u64,
}

/// Message between a waiting rank and the awaited rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum WaitMessage {
    /// Report of a wait: the sender has made `calls` calls in `group`, with this fingerprint. Each
    /// rank in `chain` waits for the next; the last is the sender, which waits for the receiver.
    /// The receiver acknowledges a report before the next one.
    Report {
        group: GroupId,
        calls: u64,
        fingerprint: u64,
        chain: Vec<WaitingRank>,
    },
    Acknowledgement,
    /// The sender's calls differ from the receiver's, or the sender waits for a message that will
    /// not come. `text` is the sender's operation, `calls` its last calls.
    CallsDiffer {
        group: GroupId,
        text: String,
        calls: Vec<CallSummary>,
    },
}

/// Call of a rank, in an error about different calls.
pub(crate) struct RankCall {
    pub rank: usize,
    pub call: String,
}

/// Error that names the calls of two ranks, the lower rank first.
pub(crate) fn differing_calls(a: RankCall, b: RankCall) -> Error {
    let (low, high) = if a.rank < b.rank { (a, b) } else { (b, a) };
    let (RankCall { rank, call }, RankCall { rank: other_rank, call: other_call }) = (low, high);
    ErrorKind::Differing { rank, call, other_rank, other_call }.into()
}

impl Group {
    /// Compares the fingerprint of a received message with this rank's. Different fingerprints are
    /// an error, see [`calls_differ`](Self::calls_differ).
    #[inline]
    pub(crate) fn check_fingerprint(&self, from: usize, tag: Tag, found: Tag) -> Result<()> {
        if tag.fingerprint() == found.fingerprint() { Ok(()) } else { Err(self.calls_differ("a receive", from)) }
    }

    /// Determines this rank's error after a proof that rank `peer` has made different calls.
    ///
    /// Sends this rank's calls to `peer`, which finds the difference and fails at its next wait or
    /// at its end. Waits for that failure.
    pub(crate) fn calls_differ(&self, operation: &str, peer: usize) -> Error {
        if let Err(error) = self.alive() {
            return error;
        }
        let text = self.operation_text(operation);
        if let Err(error) = self.send_wait_message(self.world_rank_of(peer), &self.calls_differ_message(text.clone())) {
            return error;
        }
        let _entered = self.entering(format!("{text} (its calls are not those of rank {})", self.world_rank_of(peer)));
        match self.wait_in(operation, Some(peer), || Ok(None::<Infallible>)) {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    fn calls_differ_message(&self, text: String) -> WaitMessage {
        WaitMessage::CallsDiffer { group: self.id(), text, calls: self.calls().summaries() }
    }

    fn send_wait_message(&self, world_rank: usize, message: &WaitMessage) -> Result<()> {
        if world_rank != self.world_rank() {
            self.transport().post(world_rank, Tag::wait_message(), encoded(message)?)?;
        }
        Ok(())
    }

    /// Sends a wait report to the awaited rank of the group, or to both neighbours for `None`.
    pub(crate) fn report_wait(&self, peer: Option<usize>) -> Result<()> {
        let (rank, size) = (self.rank(), self.size());
        match peer {
            Some(peer) => {
                let chain = self.awaited()?.map(|(wait, _)| wait);
                self.send_report(self.world_rank_of(peer), chain.into_iter().collect())
            }
            None => [rank + 1, rank + size - 1]
                .into_iter()
                .try_for_each(|peer| self.send_report(self.world_rank_of(peer % size), Vec::new())),
        }
    }

    fn send_report(&self, world_rank: usize, chain: Vec<WaitingRank>) -> Result<()> {
        if world_rank == self.world_rank() || !self.rank_state().unacknowledged.borrow_mut().insert(world_rank) {
            return Ok(());
        }
        let (group, calls, fingerprint) = (self.id(), self.calls().number(), self.calls().fingerprint());
        self.send_wait_message(world_rank, &WaitMessage::Report { group, calls, fingerprint, chain })
    }

    /// Receives and handles all arrived wait messages.
    ///
    /// Returns [`ErrorKind::Differing`](zippy_base::error::ErrorKind::Differing), and reports it to
    /// all ranks, if another rank's calls differ or a cycle of waits is found.
    pub(crate) fn receive_wait_messages(&self) -> Result<()> {
        while let Some(received) = self.transport().poll(None, Tag::wait_message())? {
            match decoded(&received.payload)? {
                WaitMessage::Acknowledgement => {
                    self.rank_state().last_acknowledged.set(Some(Instant::now()));
                    self.rank_state().unacknowledged.borrow_mut().remove(&received.from);
                }
                WaitMessage::Report { group, calls, fingerprint, chain } => {
                    let posted = self.transport().posted_to(received.from);
                    self.send_wait_message(received.from, &WaitMessage::Acknowledgement)?;
                    let group_here = self.group_with_id(group);
                    // A rank with fewer calls may make the same calls later.
                    let own = group_here.as_ref().and_then(|group_here| group_here.calls().fingerprint_after(calls));
                    match group_here.filter(|_| own.is_some_and(|own| own != fingerprint)) {
                        Some(group_here) => self.send_wait_message(
                            received.from,
                            &group_here.calls_differ_message(group_here.calls().last_text()),
                        )?,
                        None => self.extend_chain(chain, posted)?,
                    }
                }
                WaitMessage::CallsDiffer { group, text, calls } => {
                    let own = self.group_with_id(group).map_or_else(Vec::new, |group| group.calls().summaries());
                    let (call, other_call) = self.difference(&own, &calls, text);
                    let own_call = RankCall { rank: self.world_rank(), call };
                    let error = differing_calls(own_call, RankCall { rank: received.from, call: other_call });
                    return Err(self.fail_in("a comparison of calls", error));
                }
            }
        }
        Ok(())
    }

    /// Texts of the first calls that differ from another rank's; `text` is that rank's operation.
    fn difference(&self, own: &[CallSummary], other: &[CallSummary], text: String) -> (String, String) {
        if let Some(calls) = first_different_calls(own, other) {
            return calls;
        }
        match own.last() {
            // This rank has finished, and the other rank waits for its message.
            Some(last) if last.text == NOTHING_MORE && last.follows(other.last()) => (NOTHING_MORE.into(), text),
            None if self.rank_state().finished.get() => (NOTHING_MORE.into(), text),
            None => ("nothing in this group, or it has left the group".into(), text),
            Some(_) => last_calls(own, other),
        }
    }

    fn awaited(&self) -> Result<Option<(WaitingRank, usize)>> {
        let Some((id, peer, Some(arrived))) = self.rank_state().awaited.get() else { return Ok(None) };
        let Some(group) = self.group_with_id(id) else { return Ok(None) };
        let suffix = if id.context == 0 { String::new() } else { format!(" of a group of {}", group.size()) };
        let text = format!("{}{suffix}", group.calls().last_text());
        Ok(Some((WaitingRank { rank: self.world_rank(), peer, text, calls: group.calls().number(), arrived }, peer)))
    }

    /// Appends this rank's wait to a chain of waits for unsent messages, and forwards the chain. A
    /// chain that already contains the same wait of this rank is a deadlock and an error. `posted`
    /// is the number of messages from this rank to the chain's last rank.
    fn extend_chain(&self, mut chain: Vec<WaitingRank>, posted: u64) -> Result<()> {
        if chain.last().is_none_or(|last| last.arrived != posted) {
            return Ok(());
        }
        let Some((own, peer)) = self.awaited()? else { return Ok(()) };
        let Some(start) = chain.iter().position(|wait| wait.rank == own.rank) else {
            chain.push(own);
            return self.send_report(peer, chain);
        };
        let cycle = &chain[start..];
        if cycle[0] != own {
            return Ok(());
        }
        let next = |index: usize| &cycle[(index + 1) % cycle.len()];
        let index = (0..cycle.len()).find(|&index| cycle[index].text != next(index).text).unwrap_or(0);
        let rank_call = |wait: &WaitingRank| RankCall { rank: wait.rank, call: wait.text.clone() };
        Err(self.fail_in("a wait", differing_calls(rank_call(&cycle[index]), rank_call(next(index)))))
    }

    fn group_with_id(&self, id: GroupId) -> Option<Self> {
        self.group_of_context(id.context).filter(|group| group.id() == id)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::calls::{CallText, Calls};
    use crate::payload::copied;

    #[test]
    fn wait_messages_survive_encoding() {
        let own = Calls::default();
        own.add(7, 3, CallText::Shared(Rc::new("a call")));
        let calls = own.summaries();
        let (group, text) = (GroupId { context: 5, start: 1 << 40 }, "receive".to_owned());
        let chain = vec![WaitingRank { rank: 3, peer: 4, text: text.clone(), calls: 1, arrived: 1 << 40 }];
        let report = WaitMessage::Report { group, calls: 1, fingerprint: own.fingerprint(), chain };
        for message in
            [report, WaitMessage::Acknowledgement, WaitMessage::CallsDiffer { group, text, calls: calls.clone() }]
        {
            assert_eq!(decoded::<WaitMessage>(&encoded(&message).unwrap()).unwrap(), message);
        }
        assert!(decoded::<WaitMessage>(&copied(&[9_u8, 200])).is_err());
    }
}
