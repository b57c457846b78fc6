//! The operations between two fences, on the side of the rank that asks.

use std::collections::BTreeMap;

use super::epoch::{Action, Queued, Then};
use super::fetched::Fetched;
use super::wire::{Request, Requests, Verb};
use super::{boxes, serve};
use crate::error::Result;
use crate::plan::one_sided::split;
use crate::region::Region;
use crate::transport::{Payload, Tag};
use crate::world::World;
use crate::world::last_exchange::{BoxEnd, MovedBoxes};

impl World {
    /// Sends requests to the owners, serves what is asked of this rank, and takes the replies.
    pub(super) fn run_epoch(&self, queued: Vec<Queued>) -> Result<Fetched> {
        let sent = self.ask(queued)?;
        self.collect(sent)
    }

    /// Sends requests to the owners and serves what is asked of this rank: everything has been read that is to be sent.
    pub(super) fn ask(&self, queued: Vec<Queued>) -> Result<Sent> {
        let Sorted { outgoing, wanted, replies, moved } = sorted(queued, self.rank(), self.remembers_asked())?;
        self.remember_asked(moved);
        let mut fetched = Fetched::default();
        let mut messages: Vec<(usize, Payload)> = Vec::with_capacity(outgoing.len());
        for (rank, out) in outgoing {
            match rank == self.rank() {
                true => fetched.moved.bytes_local += out.bytes,
                false => fetched.moved.bytes_network += out.bytes,
            }
            fetched.moved.messages += u64::from(rank != self.rank());
            messages.push((rank, Box::new(out.requests.encode(&out.payload))));
        }
        let incoming = self.inner().sparse_exchange(messages)?;
        let reply_tag = self.inner().next_sequence();
        for (to, reply) in serve::serve(self, incoming)? {
            fetched.moved.messages += u64::from(to != self.rank());
            self.inner().send(to, reply_tag, Box::new(reply))?;
        }
        fetched.moved.rounds = 2;
        Ok(Sent { wanted, replies, reply_tag, fetched })
    }

    /// Takes the replies.
    pub(super) fn collect(&self, sent: Sent) -> Result<Fetched> {
        let Sent { mut wanted, replies, reply_tag, mut fetched } = sent;
        for (owner, parts) in replies {
            let payload = self.inner().receive(owner, reply_tag)?;
            let reply = (*payload).as_ref();
            let expected: usize = parts.iter().map(|part| part.bytes.next_multiple_of(4)).sum();
            if reply.len() != expected {
                return Err(self.wrong_message(owner, expected as u64, reply.len() as u64).into());
            }
            let mut offset = 0;
            for part in parts {
                let want = &mut wanted[part.want];
                let end = offset + part.bytes;
                boxes::place(&want.region, &mut want.data, &part.region, want.element_bytes, &reply[offset..end]);
                offset = end.next_multiple_of(4);
            }
        }
        for want in wanted {
            (want.then)(want.data, &mut fetched)?;
        }
        Ok(fetched)
    }
}

/// An epoch whose requests have been sent and served, and whose replies are still to be taken.
pub(super) struct Sent {
    wanted: Vec<PendingGet>,
    replies: BTreeMap<usize, Vec<WantedPart>>,
    reply_tag: Tag,
    pub fetched: Fetched,
}

/// What goes to one owner.
#[derive(Default)]
struct Outgoing {
    requests: Requests,
    payload: Vec<u8>,
    /// Bytes of cells that go there or come back, without padding.
    bytes: u64,
}

/// A get under way.
struct PendingGet {
    region: Region,
    element_bytes: usize,
    data: Vec<u8>,
    then: Then,
}

/// The part of a get that one owner sends.
struct WantedPart {
    want: usize,
    region: Region,
    bytes: usize,
}

/// The queue by owner: what goes to it, and what comes back from it, in the order of the requests.
#[derive(Default)]
struct Sorted {
    outgoing: BTreeMap<usize, Outgoing>,
    wanted: Vec<PendingGet>,
    replies: BTreeMap<usize, Vec<WantedPart>>,
    /// Where somebody may look at it.
    moved: Option<MovedBoxes>,
}

/// The queue of a rank, with the boxes that it moves if they are to be remembered.
fn sorted(queued: Vec<Queued>, rank: usize, remembers: bool) -> Result<Sorted> {
    let mut sorted = Sorted { moved: remembers.then(MovedBoxes::default), ..Sorted::default() };
    for (sequence, Queued { array, region, action }) in queued.into_iter().enumerate() {
        let element_bytes = array.element().bytes;
        for part in split(array.placement(), &region)? {
            let bytes = part.region.cells() as usize * element_bytes;
            let out = sorted.outgoing.entry(part.owner.rank).or_default();
            out.bytes += bytes as u64;
            if let Some(moved) = &mut sorted.moved {
                let first = part.region.start;
                let owned = BoxEnd { array: Some(array.id()), chunk: part.chunk, rank: part.owner.rank, first };
                let is_read = matches!(action, Action::Get(_));
                moved.add(rank, owned, part.region.extents(), bytes as u64, is_read);
            }
            let verb = match &action {
                Action::Get(_) => {
                    let wanted = WantedPart { want: sorted.wanted.len(), region: part.region, bytes };
                    sorted.replies.entry(part.owner.rank).or_default().push(wanted);
                    Verb::Get
                }
                Action::Put(data) => {
                    boxes::take(&region, data, &part.region, element_bytes, &mut out.payload);
                    Verb::Put
                }
                Action::Accumulate(data, operator) => {
                    boxes::take(&region, data, &part.region, element_bytes, &mut out.payload);
                    Verb::Accumulate(out.requests.operator(operator))
                }
            };
            out.requests.requests.push(Request {
                sequence: sequence as u64,
                array: array.id().0,
                chunk: part.chunk as u64,
                bounds: Request::bounds(&part.region),
                verb,
                bytes: bytes.next_multiple_of(4) as u64,
            });
        }
        if let Action::Get(then) = action {
            let data = vec![0; region.cells() as usize * element_bytes];
            sorted.wanted.push(PendingGet { region, element_bytes, data, then });
        }
    }
    Ok(sorted)
}
