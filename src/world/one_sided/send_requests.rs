//! Requester's side of a fence: sends requests to owners and receives their replies.

use std::collections::BTreeMap;

use super::epoch::{GetConsumer, OneSidedAction, QueuedOperation};
use super::fetched::Fetched;
use super::requests::{Request, RequestKind, Requests};
use super::serve_requests::LocalPut;
use super::{boxes, serve_requests};
use crate::error::{CallSite, Result};
use crate::plan::one_sided::split;
use crate::region::Region;
use crate::transport::{Payload, Tag};
use crate::world::last_exchange::{BoxEnd, MovedBoxes};
use crate::world::local_box::{LocalBox, copy_boxes};
use crate::world::{CollectiveWorld, World};

impl World {
    /// Sends requests to their owners, serves the requests to this rank, and receives the replies.
    pub(super) fn run_epoch(&self, queued: Vec<QueuedOperation>) -> Result<Fetched> {
        let sent = self.send_requests(queued)?;
        self.receive_replies(sent)
    }

    /// Sends requests to their owners and serves the requests to this rank. On return, all data to
    /// send has been read, and copies inside this rank are complete.
    pub(super) fn send_requests(&self, queued: Vec<QueuedOperation>) -> Result<SentEpoch> {
        let RequestsByOwner { outgoing, gets, replies, local_gets, local_puts, bytes_within_rank, moved } =
            split_by_owner(queued, self.rank(), self.records_requests())?;
        self.record_requests(moved);
        let mut fetched = Fetched::default();
        fetched.moved.bytes_local = bytes_within_rank;
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
        let incoming = self.inner_group().sparse_exchange(messages)?;
        let reply_tag = self.inner_group().next_sequence();
        for (to, reply) in serve_requests::serve_requests(self, incoming, local_puts)? {
            fetched.moved.messages += u64::from(to != self.rank());
            self.inner_group().send(to, reply_tag, Box::new(reply))?;
        }
        copy_boxes(&local_gets)?;
        fetched.moved.rounds = 2;
        Ok(SentEpoch { gets, replies, reply_tag, fetched })
    }

    pub(super) fn receive_replies(&self, sent: SentEpoch) -> Result<Fetched> {
        let SentEpoch { mut gets, replies, reply_tag, mut fetched } = sent;
        for (owner, parts) in replies {
            let payload = self.inner_group().receive(owner, reply_tag)?;
            let reply = (*payload).as_ref();
            let expected: usize = parts.iter().map(|part| part.bytes.next_multiple_of(4)).sum();
            if reply.len() != expected {
                return Err(self.wrong_message(owner, expected as u64, reply.len() as u64).into());
            }
            let mut offset = 0;
            for part in parts {
                let get = &mut gets[part.get];
                let cells = &reply[offset..offset + part.bytes];
                offset += part.bytes.next_multiple_of(4);
                match &mut get.target {
                    GetTarget::Host { data, .. } => {
                        boxes::write_part(&get.region, data, &part.region, get.element_bytes, cells);
                    }
                    GetTarget::Box(target) => {
                        let LocalBox { array, chunk, region } = target.sub_box(&part.within);
                        array.write(chunk, &region, cells)?;
                        array.record_write(chunk, &region, "copy", CallSite::here());
                    }
                }
            }
        }
        for get in gets {
            if let GetTarget::Host { data, consumer } = get.target {
                consumer(data, &mut fetched)?;
            }
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

/// Requests to an owner, with their payload.
#[derive(Default)]
struct OutgoingRequests {
    requests: Requests,
    payload: Vec<u8>,
    /// Bytes of the requested and written cells, without padding.
    bytes: u64,
}

struct PendingGet {
    region: Region,
    element_bytes: usize,
    target: GetTarget,
}

/// Destination of the cells of a get.
enum GetTarget {
    Host { data: Vec<u8>, consumer: GetConsumer },
    Box(LocalBox),
}

/// Part of a get from a single owner.
struct GetPart {
    get: usize,
    region: Region,
    /// `region` in coordinates that begin at the first cell of the get.
    within: Region,
    bytes: usize,
}

/// Requests by owner, and the parts of the expected replies in the order of the requests.
#[derive(Default)]
struct RequestsByOwner {
    outgoing: BTreeMap<usize, OutgoingRequests>,
    gets: Vec<PendingGet>,
    replies: BTreeMap<usize, Vec<GetPart>>,
    /// Sources and destinations of gets inside this rank.
    local_gets: Vec<(LocalBox, LocalBox)>,
    local_puts: Vec<LocalPut>,
    /// Bytes of `local_gets` and `local_puts`.
    bytes_within_rank: u64,
    /// Moved boxes, if they are recorded for a viewer.
    moved: Option<MovedBoxes>,
}

/// Splits the queue by owner, and records the boxes if requested.
fn split_by_owner(queued: Vec<QueuedOperation>, rank: usize, record_boxes: bool) -> Result<RequestsByOwner> {
    let mut by_owner = RequestsByOwner { moved: record_boxes.then(MovedBoxes::default), ..RequestsByOwner::default() };
    for (sequence, QueuedOperation { array, region, action }) in queued.into_iter().enumerate() {
        let element_bytes = array.element().bytes;
        for part in split(array.placement(), &region)? {
            let bytes = part.region.cells() as usize * element_bytes;
            if let Some(moved) = &mut by_owner.moved {
                let first = part.region.start;
                let owned = BoxEnd { array: Some(array.id()), chunk: part.chunk, rank: part.owner.rank, first };
                let is_read = matches!(action, OneSidedAction::Get(_) | OneSidedAction::GetInto(_));
                moved.add(rank, owned, part.region.extents(), bytes as u64, is_read);
            }
            if part.owner.rank == rank
                && let OneSidedAction::GetInto(local) | OneSidedAction::PutFrom(local) = &action
            {
                let (local, global) = (
                    local.sub_box(&part.within),
                    LocalBox { array: array.clone(), chunk: part.chunk, region: part.region },
                );
                let is_get = matches!(action, OneSidedAction::GetInto(_));
                // A put reads its cells when its turn comes, so that earlier puts must not change
                // them.
                if is_get || !local.shares_memory_with(&array) {
                    by_owner.bytes_within_rank += bytes as u64;
                    if is_get {
                        by_owner.local_gets.push((global, local));
                    } else {
                        by_owner.local_puts.push(LocalPut { sequence: sequence as u64, from: local, to: global });
                    }
                    continue;
                }
            }
            let outgoing = by_owner.outgoing.entry(part.owner.rank).or_default();
            outgoing.bytes += bytes as u64;
            let verb = match &action {
                OneSidedAction::Get(_) | OneSidedAction::GetInto(_) => {
                    let get_part =
                        GetPart { get: by_owner.gets.len(), region: part.region, within: part.within, bytes };
                    by_owner.replies.entry(part.owner.rank).or_default().push(get_part);
                    RequestKind::Get
                }
                OneSidedAction::Put(data) => {
                    boxes::append_part(&region, data, &part.region, element_bytes, &mut outgoing.payload);
                    RequestKind::Put
                }
                OneSidedAction::PutFrom(from) => {
                    let LocalBox { array, chunk, region } = from.sub_box(&part.within);
                    let start = outgoing.payload.len();
                    outgoing.payload.resize(start + bytes.next_multiple_of(4), 0);
                    array.read(chunk, &region, &mut outgoing.payload[start..start + bytes])?;
                    array.record_read(chunk, &region, "copy", CallSite::here());
                    RequestKind::Put
                }
                OneSidedAction::Accumulate(data, operator) => {
                    boxes::append_part(&region, data, &part.region, element_bytes, &mut outgoing.payload);
                    RequestKind::Accumulate(outgoing.requests.operator(operator))
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
        let target = match action {
            OneSidedAction::Get(consumer) => {
                GetTarget::Host { data: vec![0; region.cells() as usize * element_bytes], consumer }
            }
            OneSidedAction::GetInto(local) => GetTarget::Box(local),
            OneSidedAction::Put(_) | OneSidedAction::PutFrom(_) | OneSidedAction::Accumulate(..) => continue,
        };
        by_owner.gets.push(PendingGet { region, element_bytes, target });
    }
    Ok(by_owner)
}
