//! Owner's side of a fence: runs the requests of all ranks in (rank, sequence) order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::requests::{Request, RequestKind, Requests};
use crate::array::{ArrayCore, ArrayId};
use crate::chunks::ChunkId;
use crate::device::{Lease, Operator, PackedBox};
use crate::error::{ArrayError, CallSite, Error, Result};
use crate::plan::one_sided::{Access, batches};
use crate::region::Region;
use crate::transport::Payload;
use crate::world::World;
use crate::world::local_box::{LocalBox, copy_boxes};
use crate::world::merge_rule::MergeRule;

/// Validated request.
struct ValidRequest {
    source: usize,
    sequence: u64,
    array: Rc<ArrayCore>,
    chunk: ChunkId,
    region: Region,
    verb: RequestKind,
    /// Byte range of the data in the message of the source.
    payload: Range<usize>,
    /// Byte range of the data in the reply to the source.
    reply: Range<usize>,
}

impl ValidRequest {
    /// Box of the request, at a byte offset of a payload.
    fn packed_box<'a>(&self, lease: &'a Lease, payload_offset: u64) -> PackedBox<'a> {
        PackedBox { buffer: lease, view: self.array.strided(self.chunk, &self.region), payload_offset }
    }
}

/// Put of this rank to one of its own chunks.
pub(super) struct LocalPut {
    /// Index among the operations of this rank.
    pub sequence: u64,
    pub from: LocalBox,
    pub to: LocalBox,
}

/// Runs the requests of all ranks and the puts inside this rank. Returns the reply to each rank.
pub(super) fn serve_requests(
    world: &World,
    incoming: Vec<(usize, Payload)>,
    local_puts: Vec<LocalPut>,
) -> Result<Vec<(usize, Vec<u8>)>> {
    let mut valid = Vec::new();
    let mut replies: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    let mut operators = Vec::new();
    for (index, (rank, message)) in incoming.iter().enumerate() {
        let (requests, start) = Requests::decode((**message).as_ref())?;
        let message_operators = requests.operators()?;
        let origin = RequestMessage {
            rank: *rank,
            index,
            payload: start..(**message).as_ref().len(),
            operators: message_operators.len(),
        };
        operators.push(message_operators);
        let reply_bytes = validate_requests(world, &origin, requests, &mut valid)?;
        if reply_bytes > 0 {
            replies.insert(*rank, vec![0; reply_bytes]);
        }
    }
    let mut accesses: Vec<Access> =
        valid.iter().map(|request| access_of_request(request, incoming[request.source].0)).collect();
    accesses.extend(local_puts.iter().map(|put| access_of_box(&put.to, world.rank(), put.sequence, true)));
    for batch in batches(&accesses) {
        let requests: Vec<&ValidRequest> = batch.iter().filter_map(|&index| valid.get(index)).collect();
        run(world, &requests, &incoming, &operators, &mut replies)?;
        let puts = batch.iter().filter_map(|&index| local_puts.get(index.checked_sub(valid.len())?));
        copy_boxes(&puts.map(|put| (put.from.clone(), put.to.clone())).collect::<Vec<_>>())?;
    }
    Ok(replies.into_iter().collect())
}

/// Sender and limits of a message of requests.
struct RequestMessage {
    rank: usize,
    /// Index of the message in `incoming`.
    index: usize,
    /// Byte range of the data in the message.
    payload: Range<usize>,
    /// Number of operators in the message.
    operators: usize,
}

/// Validates the requests of a message. Returns the size of its reply in bytes.
fn validate_requests(
    world: &World,
    origin: &RequestMessage,
    requests: Requests,
    valid: &mut Vec<ValidRequest>,
) -> Result<usize> {
    let (mut next, mut reply_bytes) = (origin.payload.start, 0_usize);
    for request in requests.requests {
        let array = world.array_of(ArrayId(request.array))?;
        let (chunk, region, bytes) = check_request(&array, origin, &request)?;
        let (mut payload, mut reply) = (0..0, 0..0);
        if request.verb == RequestKind::Get {
            let end = reply_bytes.checked_add(bytes);
            reply = reply_bytes..end.ok_or_else(|| refusal_error(origin, &array, "requests too many bytes"))?;
            reply_bytes = reply.end;
        } else {
            payload = next..next + bytes;
            if payload.end > origin.payload.end {
                return Err(refusal_error(origin, &array, "has less data than cells"));
            }
            next = payload.end;
        }
        let Request { sequence, verb, .. } = request;
        valid.push(ValidRequest { source: origin.index, sequence, array, chunk, region, verb, payload, reply });
    }
    Ok(reply_bytes)
}

/// Validates a request against the chunks of this rank. Returns its chunk, region and number of
/// bytes.
fn check_request(array: &ArrayCore, origin: &RequestMessage, request: &Request) -> Result<(ChunkId, Region, usize)> {
    let refused = |problem: &str| refusal_error(origin, array, problem);
    let chunk = usize::try_from(request.chunk).ok().filter(|&chunk| chunk < array.chunks().count());
    let chunk = chunk.ok_or_else(|| refused(&format!("names chunk {}, which does not exist", request.chunk)))?;
    let region = request.region().filter(|region| region.axes() == array.chunks().axes());
    let region = region.ok_or_else(|| refused("has an invalid region"))?;
    if array.ownership().owner(chunk).rank != array.rank() {
        return Err(refused(&format!("was sent to a rank that does not own chunk {chunk}")));
    }
    if !array.chunks().region(chunk).covers(&region) {
        return Err(refused(&format!("names cells {region}, which are not in chunk {chunk}")));
    }
    let bytes = (region.cells() as usize * array.element().bytes).next_multiple_of(4);
    let has_operator = match request.verb {
        RequestKind::Accumulate(operator) => (operator as usize) < origin.operators,
        _ => true,
    };
    if bytes as u64 == request.bytes && has_operator {
        Ok((chunk, region, bytes))
    } else {
        Err(refused("has another element type or operator"))
    }
}

fn refusal_error(origin: &RequestMessage, array: &ArrayCore, problem: &str) -> Error {
    let (rank, name) = (origin.rank, array.name());
    let text = format!(
        "a one-sided operation of rank {rank} on array {name:?} {problem}; do all ranks have the same arrays, with the same \
         cuts and owners?"
    );
    ArrayError::Other(text).into()
}

fn access_of_request(request: &ValidRequest, rank: usize) -> Access {
    let target = LocalBox { array: request.array.clone(), chunk: request.chunk, region: request.region };
    access_of_box(&target, rank, request.sequence, request.verb != RequestKind::Get)
}

fn access_of_box(LocalBox { array, chunk, region }: &LocalBox, rank: usize, sequence: u64, writes: bool) -> Access {
    let origin = array.chunks().storage(*chunk).start;
    let region = Region { start: region.start - origin, end: region.end - origin };
    // Handles of the same chunks, as after a rearrangement, must have the same id in accesses.
    Access { rank, sequence, array: array.memory(*chunk), region, writes }
}

/// Key of requests that run in one device operation: index of the message with the data (`None` for
/// gets of all ranks), index of the operator in this message, and address of the element type.
type RequestGroup = (Option<usize>, Option<u32>, usize);

/// Runs requests whose common cells are only read.
fn run(
    world: &World,
    requests: &[&ValidRequest],
    incoming: &[(usize, Payload)],
    operators: &[Vec<Operator>],
    replies: &mut BTreeMap<usize, Vec<u8>>,
) -> Result<()> {
    let mut groups: BTreeMap<RequestGroup, Vec<&ValidRequest>> = BTreeMap::new();
    for &request in requests {
        let source = (request.verb != RequestKind::Get).then_some(request.source);
        let operator = if let RequestKind::Accumulate(operator) = request.verb { Some(operator) } else { None };
        let element = std::ptr::from_ref(request.array.element()) as usize;
        groups.entry((source, operator, element)).or_default().push(request);
    }
    for ((source, operator, _), requests) in groups {
        let element = requests[0].array.element();
        let leases = requests.iter().map(|request| request.array.lease(request.chunk)).collect::<Result<Vec<_>>>()?;
        let boxes = || requests.iter().zip(&leases).filter_map(|(request, lease)| Some((*request, lease.as_ref()?)));
        let Some(source) = source else {
            let mut offset = 0;
            let mut pieces = Vec::with_capacity(requests.len());
            for (request, lease) in boxes() {
                pieces.push(request.packed_box(lease, offset));
                offset += request.reply.len() as u64;
            }
            let staged = world.pack(element.bytes, &pieces, offset)?;
            let mut data: &[u8] = staged.as_ref();
            for (request, _) in boxes() {
                let (cells, rest) = data.split_at(request.reply.len());
                let reply = replies.get_mut(&incoming[request.source].0).expect("a reply was made for every get");
                reply[request.reply.clone()].copy_from_slice(cells);
                data = rest;
            }
            continue;
        };
        let pieces: Vec<PackedBox<'_>> =
            boxes().map(|(request, lease)| request.packed_box(lease, request.payload.start as u64)).collect();
        for (request, _) in boxes() {
            request.array.record_write(request.chunk, &request.region, "an epoch", CallSite::here());
        }
        let operator = operator.map(|index| operators[source][index as usize].clone());
        let merge_rule = operator.map_or(MergeRule::Replace, MergeRule::Combine);
        world.unpack(element, &merge_rule, (*incoming[source].1).as_ref(), &pieces)?;
    }
    Ok(())
}

impl World {
    fn array_of(&self, id: ArrayId) -> Result<Rc<ArrayCore>> {
        self.registry.borrow().get(id).ok_or_else(|| {
            ArrayError::Other(format!(
                "a one-sided operation names array number {}, which this rank has dropped; keep arrays alive on all ranks \
                 until the fence",
                id.0
            ))
            .into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Layout, Split};
    use crate::transport::Config;

    /// A corrupt message is served or refused; no access leaves the array.
    #[test]
    fn corrupt_message_is_served_or_refused() {
        let program = |world: &World| {
            let layout = Layout::new([6, 4]).split([Split::Even(2), Split::Even(2)]).ghost([1, 1]);
            let array = world.array::<u32, 2>("array", &layout)?;
            let mut requests = Requests::default();
            let verb = RequestKind::Accumulate(requests.operator(&Operator::Add));
            for (sequence, verb) in [verb, RequestKind::Put, RequestKind::Get].into_iter().enumerate() {
                let region = array.core().chunks().region(3);
                let (array, bounds) = (array.core().id().0, Request::bounds(&region));
                let (sequence, bytes) = (sequence as u64, region.cells() * 4);
                requests.requests.push(Request { sequence, array, chunk: 3, bounds, verb, bytes });
            }
            let run = |message: Vec<u8>| serve_requests(world, vec![(0, Box::new(message) as Payload)], Vec::new());
            let valid = requests.encode(&[1; 48]);
            assert_eq!(run(valid.clone())?, [(0, vec![1; 24])], "accumulated, replaced, read");
            let mut refused = 0;
            for offset in 0..valid.len() - 48 {
                for value in [0, 1, 2, 5, 7, 0x7f, 0x80, 0xff] {
                    let mut message = valid.clone();
                    message[offset] = value;
                    refused += usize::from(run(message).is_err());
                }
                refused += usize::from(run(valid[..offset].to_vec()).is_err());
            }
            assert!(refused > valid.len() - 48, "{refused}");
            // Invalid chunk, cells of another chunk, missing data, invalid operator.
            let hostile: [fn(&mut Request); 5] = [
                |request| request.chunk = 24,
                |request| request.chunk = 0,
                |request| request.bounds[0] = (-1, 6),
                |request| request.bytes = 0,
                |request| request.verb = RequestKind::Accumulate(1),
            ];
            for spoil in hostile {
                let mut invalid =
                    Requests { requests: requests.requests[..1].to_vec(), operators: requests.operators.clone() };
                spoil(&mut invalid.requests[0]);
                let error = run(invalid.encode(&[1; 24])).unwrap_err().to_string();
                assert!(error.contains("a one-sided operation of rank 0 on array \"array\""), "{error}");
            }
            assert!(run(requests.encode(&[1; 44])).unwrap_err().to_string().contains("less data than cells"));
            Ok(())
        };
        crate::run_with(Config::apart(1), program).unwrap();
    }
}
