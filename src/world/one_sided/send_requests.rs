//! Requester's side of a fence: sends requests to owners and receives their replies.

use std::collections::BTreeMap;

use super::epoch::{Action, GetConsumer, Queued};
use super::fetched::Fetched;
use super::requests::{Request, Requests, Verb};
use super::{boxes, serve_requests};
use crate::error::Result;
use crate::plan::one_sided::split;
use crate::region::Region;
use crate::transport::{Payload, Tag};
use crate::world::World;
use crate::world::last_exchange::{BoxEnd, MovedBoxes};

impl World {
    /// Sends requests to the owners, serves the requests to this rank, and receives the replies.
    pub(super) fn run_epoch(&self, queued: Vec<Queued>) -> Result<Fetched> {
        let sent = self.send_requests(queued)?;
        self.receive_replies(sent)
    }

    /// Sends requests to the owners and serves the requests to this rank. On return, all data to
    /// send has been read.
    pub(super) fn send_requests(&self, queued: Vec<Queued>) -> Result<SentEpoch> {
        let RequestsByOwner { outgoing, gets, replies, moved } =
            split_by_owner(queued, self.rank(), self.records_requests())?;
        self.record_requests(moved);
        let mut fetched = Fetched::default();
        let mut messages: Vec<(usize, Payload)> = Vec::with_capacity(outgoing.len());
        for (rank, outgoing) in outgoing {
            if rank == self.rank() {
                fetched.moved.bytes_local += outgoing.bytes;
            } else {
                fetched.moved.bytes_network += outgoing.bytes;
            }
            fetched.moved.messages += u64::from(rank != self.rank());
            messages.push((rank, Box::new(outgoing.requests.encode(&outgoing.payload))));
        }
        let incoming = self.inner().sparse_exchange(messages)?;
        let reply_tag = self.inner().next_sequence();
        for (to, reply) in serve_requests::serve_requests(self, incoming)? {
            fetched.moved.messages += u64::from(to != self.rank());
            self.inner().send(to, reply_tag, Box::new(reply))?;
        }
        fetched.moved.rounds = 2;
        Ok(SentEpoch { gets, replies, reply_tag, fetched })
    }

    pub(super) fn receive_replies(&self, sent: SentEpoch) -> Result<Fetched> {
        let SentEpoch { mut gets, replies, reply_tag, mut fetched } = sent;
        for (owner, parts) in replies {
            let payload = self.inner().receive(owner, reply_tag)?;
            let reply = (*payload).as_ref();
            let expected: usize = parts.iter().map(|part| part.bytes.next_multiple_of(4)).sum();
            if reply.len() != expected {
                return Err(self.wrong_message(owner, expected as u64, reply.len() as u64).into());
            }
            let mut offset = 0;
            for part in parts {
                let get = &mut gets[part.get];
                let end = offset + part.bytes;
                boxes::insert(&get.region, &mut get.data, &part.region, get.element_bytes, &reply[offset..end]);
                offset = end.next_multiple_of(4);
            }
        }
        for get in gets {
            (get.consumer)(get.data, &mut fetched)?;
        }
        Ok(fetched)
    }
}

/// Epoch with sent requests and pending replies.
pub(super) struct SentEpoch {
    gets: Vec<PendingGet>,
    replies: BTreeMap<usize, Vec<GetPart>>,
    reply_tag: Tag,
    pub fetched: Fetched,
}

/// Requests to an owner, with their data.
#[derive(Default)]
struct Outgoing {
    requests: Requests,
    payload: Vec<u8>,
    /// Bytes of the requested and written cells, without padding.
    bytes: u64,
}

struct PendingGet {
    region: Region,
    element_bytes: usize,
    data: Vec<u8>,
    consumer: GetConsumer,
}

/// Part of a get that a single owner sends.
struct GetPart {
    get: usize,
    region: Region,
    bytes: usize,
}

/// Requests by owner, and the parts of the replies in the order of the requests.
#[derive(Default)]
struct RequestsByOwner {
    outgoing: BTreeMap<usize, Outgoing>,
    gets: Vec<PendingGet>,
    replies: BTreeMap<usize, Vec<GetPart>>,
    /// Moved boxes, if they are recorded for a viewer.
    moved: Option<MovedBoxes>,
}

/// Splits the queue by owner, and records the boxes if requested.
fn split_by_owner(queued: Vec<Queued>, rank: usize, record_boxes: bool) -> Result<RequestsByOwner> {
    let mut by_owner = RequestsByOwner { moved: record_boxes.then(MovedBoxes::default), ..RequestsByOwner::default() };
    for (sequence, Queued { array, region, action }) in queued.into_iter().enumerate() {
        let element_bytes = array.element().bytes;
        for part in split(array.placement(), &region)? {
            let bytes = part.region.cells() as usize * element_bytes;
            let outgoing = by_owner.outgoing.entry(part.owner.rank).or_default();
            outgoing.bytes += bytes as u64;
            if let Some(moved) = &mut by_owner.moved {
                let first = part.region.start;
                let owned = BoxEnd { array: Some(array.id()), chunk: part.chunk, rank: part.owner.rank, first };
                let is_read = matches!(action, Action::Get(_));
                moved.add(rank, owned, part.region.extents(), bytes as u64, is_read);
            }
            let verb = match &action {
                Action::Get(_) => {
                    let get_part = GetPart { get: by_owner.gets.len(), region: part.region, bytes };
                    by_owner.replies.entry(part.owner.rank).or_default().push(get_part);
                    Verb::Get
                }
                Action::Put(data) => {
                    boxes::extract(&region, data, &part.region, element_bytes, &mut outgoing.payload);
                    Verb::Put
                }
                Action::Accumulate(data, operator) => {
                    boxes::extract(&region, data, &part.region, element_bytes, &mut outgoing.payload);
                    Verb::Accumulate(outgoing.requests.operator(operator))
                }
            };
            outgoing.requests.requests.push(Request {
                sequence: sequence as u64,
                array: array.id().0,
                chunk: part.chunk as u64,
                bounds: Request::bounds(&part.region),
                verb,
                bytes: bytes.next_multiple_of(4) as u64,
            });
        }
        if let Action::Get(consumer) = action {
            let data = vec![0; region.cells() as usize * element_bytes];
            by_owner.gets.push(PendingGet { region, element_bytes, data, consumer });
        }
    }
    Ok(by_owner)
}
