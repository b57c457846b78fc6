//! The owner's side of a fence: running what was asked, in (rank, sequence) order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::wire::{Request, Requests, Verb};
use crate::array::{ArrayCore, ArrayId};
use crate::chunks::ChunkId;
use crate::device::{Lease, Operator, Piece};
use crate::error::{ArrayError, CallSite, Error, Result};
use crate::plan::one_sided::{Access, batches};
use crate::region::Region;
use crate::transport::Payload;
use crate::world::World;
use crate::world::meeting::Meeting;

/// One request, ready to run.
struct Serving {
    source: usize,
    sequence: u64,
    array: Rc<ArrayCore>,
    chunk: ChunkId,
    region: Region,
    verb: Verb,
    /// Its payload in the source's message.
    payload: Range<usize>,
    /// Its place in the reply to the source.
    reply: Range<usize>,
}

impl Serving {
    /// Its box, and where it is in a payload.
    fn piece<'a>(&self, lease: &'a Lease, payload_offset: u64) -> Piece<'a> {
        Piece { buffer: lease, view: self.array.strided(self.chunk, &self.region), payload_offset }
    }
}

/// Runs the requests of all ranks and returns the replies.
pub(super) fn serve(world: &World, incoming: Vec<(usize, Payload)>) -> Result<Vec<(usize, Vec<u8>)>> {
    let mut jobs = Vec::new();
    let mut replies: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    let mut operators = Vec::new();
    for (index, (rank, message)) in incoming.iter().enumerate() {
        let (requests, start) = Requests::decode((**message).as_ref())?;
        let known = requests.operators()?;
        let asked = Asked { rank: *rank, index, payload: start..(**message).as_ref().len(), operators: known.len() };
        operators.push(known);
        let reply = unpack(world, &asked, requests, &mut jobs)?;
        if reply > 0 {
            replies.insert(*rank, vec![0; reply]);
        }
    }
    let accesses: Vec<Access> = jobs.iter().map(access).collect();
    for batch in batches(&accesses) {
        let jobs: Vec<&Serving> = batch.into_iter().map(|index| &jobs[index]).collect();
        run(world, &jobs, &incoming, &operators, &mut replies)?;
    }
    Ok(replies.into_iter().collect())
}

/// A message of requests.
struct Asked {
    rank: usize,
    /// Its place among the messages.
    index: usize,
    /// Where it has data.
    payload: Range<usize>,
    /// How many operators it brings.
    operators: usize,
}

fn unpack(world: &World, asked: &Asked, requests: Requests, jobs: &mut Vec<Serving>) -> Result<usize> {
    let (mut at, mut reply) = (asked.payload.start, 0_usize);
    for request in requests.requests {
        let array = world.array_of(ArrayId(request.array))?;
        let (chunk, region, bytes) = check(&array, asked, &request)?;
        let (mut payload, mut answer) = (0..0, 0..0);
        if request.verb == Verb::Get {
            answer = reply..reply.checked_add(bytes).ok_or_else(|| refused(asked, &array, "asks for too much"))?;
            reply = answer.end;
        } else {
            payload = at..at + bytes;
            if payload.end > asked.payload.end {
                return Err(refused(asked, &array, "brings less data than it has cells for"));
            }
            at = payload.end;
        }
        let Request { sequence, verb, .. } = request;
        jobs.push(Serving { source: asked.index, sequence, array, chunk, region, verb, payload, reply: answer });
    }
    Ok(reply)
}

/// Chunk, region and bytes of a request, when they are what this rank has.
fn check(array: &ArrayCore, asked: &Asked, request: &Request) -> Result<(ChunkId, Region, usize)> {
    let refused = |what: &str| refused(asked, array, what);
    let chunk = usize::try_from(request.chunk).ok().filter(|&chunk| chunk < array.chunks().count());
    let chunk = chunk.ok_or_else(|| refused(&format!("names chunk {}, which there is not", request.chunk)))?;
    let region = request.region().filter(|region| region.axes() == array.chunks().axes());
    let region = region.ok_or_else(|| refused("names no region of it"))?;
    if array.ownership().owner(chunk).rank != array.rank() {
        return Err(refused(&format!("takes this rank for the owner of chunk {chunk}")));
    }
    if !array.chunks().region(chunk).covers(&region) {
        return Err(refused(&format!("names cells {region}, which are not in chunk {chunk}")));
    }
    let bytes = (region.cells() as usize * array.element().bytes).next_multiple_of(4);
    let operator = match request.verb {
        Verb::Accumulate(operator) => (operator as usize) < asked.operators,
        _ => true,
    };
    match bytes as u64 == request.bytes && operator {
        true => Ok((chunk, region, bytes)),
        false => Err(refused("has another element type or operator")),
    }
}

fn refused(asked: &Asked, array: &ArrayCore, what: &str) -> Error {
    let (rank, name) = (asked.rank, array.name());
    let text = format!(
        "a one-sided operation of rank {rank} on array {name:?} {what}; do all ranks have the same arrays, with the same \
         cuts and owners?"
    );
    ArrayError::Other(text).into()
}

fn access(job: &Serving) -> Access {
    // Handles of the same chunks (after a re-arrangement) must be seen as one.
    let memory = job.array.memory(job.chunk);
    let origin = job.array.chunks().storage(job.chunk).start;
    let local = Region { start: job.region.start - origin, end: job.region.end - origin };
    // Messages are sorted by rank, so the message's number stands for it.
    Access { rank: job.source, sequence: job.sequence, array: memory, region: local, writes: job.verb != Verb::Get }
}

/// What is done at once: the message that brings the cells (gets of all sources go together), the operator's number in
/// it, and the element type.
type Alike = (Option<usize>, Option<u32>, usize);

/// Runs requests of which no two touch the same cell unless both only read it.
fn run(
    world: &World,
    jobs: &[&Serving],
    incoming: &[(usize, Payload)],
    operators: &[Vec<Operator>],
    replies: &mut BTreeMap<usize, Vec<u8>>,
) -> Result<()> {
    let mut groups: BTreeMap<Alike, Vec<&Serving>> = BTreeMap::new();
    for &job in jobs {
        let source = (job.verb != Verb::Get).then_some(job.source);
        let operator = if let Verb::Accumulate(operator) = job.verb { Some(operator) } else { None };
        let element = std::ptr::from_ref(job.array.element()) as usize;
        groups.entry((source, operator, element)).or_default().push(job);
    }
    for ((source, operator, _), jobs) in groups {
        let element = jobs[0].array.element();
        let leases = jobs.iter().map(|job| job.array.lease(job.chunk)).collect::<Result<Vec<_>>>()?;
        let boxes = || jobs.iter().zip(&leases).filter_map(|(job, lease)| Some((*job, lease.as_ref()?)));
        let Some(source) = source else {
            let mut at = 0;
            let mut pieces = Vec::with_capacity(jobs.len());
            for (job, lease) in boxes() {
                pieces.push(job.piece(lease, at));
                at += job.reply.len() as u64;
            }
            let staged = world.pack(element.bytes, &pieces, at)?;
            let mut data: &[u8] = staged.as_ref();
            for (job, _) in boxes() {
                let (cells, rest) = data.split_at(job.reply.len());
                let reply = replies.get_mut(&incoming[job.source].0).expect("a reply was made for every get");
                reply[job.reply.clone()].copy_from_slice(cells);
                data = rest;
            }
            continue;
        };
        let pieces: Vec<Piece> = boxes().map(|(job, lease)| job.piece(lease, job.payload.start as u64)).collect();
        for (job, _) in boxes() {
            job.array.was_written(job.chunk, &job.region, "an epoch", CallSite::here());
        }
        let operator = operator.map(|number| operators[source][number as usize].clone());
        let meeting = operator.map_or(Meeting::Replace, Meeting::Combine);
        world.unpack(element, &meeting, (*incoming[source].1).as_ref(), &pieces)?;
    }
    Ok(())
}

impl World {
    fn array_of(&self, id: ArrayId) -> Result<Rc<ArrayCore>> {
        self.registry.borrow().get(id).ok_or_else(|| {
            ArrayError::Other(format!(
                "a one-sided operation names array number {} which this rank has dropped; keep arrays alive on all ranks \
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

    /// Whatever a message says, it is served or refused.
    #[test]
    fn no_message_reaches_memory_unchecked() {
        let program = |world: &World| {
            let layout = Layout::new([6, 4]).split([Split::Even(2), Split::Even(2)]).ghost([1, 1]);
            let array = world.array::<u32, 2>("array", &layout)?;
            let mut requests = Requests::default();
            let verb = Verb::Accumulate(requests.operator(&Operator::Add));
            for (sequence, verb) in [verb, Verb::Put, Verb::Get].into_iter().enumerate() {
                let region = array.core().chunks().region(3);
                let (array, bounds) = (array.core().id().0, Request::bounds(&region));
                let (sequence, bytes) = (sequence as u64, region.cells() * 4);
                requests.requests.push(Request { sequence, array, chunk: 3, bounds, verb, bytes });
            }
            let ask = |message: Vec<u8>| serve(world, vec![(0, Box::new(message) as Payload)]);
            let valid = requests.encode(&[1; 48]);
            assert_eq!(ask(valid.clone())?, [(0, vec![1; 24])], "accumulated, replaced, read");
            let mut refused = 0;
            for place in 0..valid.len() - 48 {
                for value in [0, 1, 2, 5, 7, 0x7f, 0x80, 0xff] {
                    let mut message = valid.clone();
                    message[place] = value;
                    refused += usize::from(ask(message).is_err());
                }
                refused += usize::from(ask(valid[..place].to_vec()).is_err());
            }
            assert!(refused > valid.len() - 48, "{refused}");
            // A chunk past the last, cells of another chunk, less data than cells, an operator that does not come along.
            let hostile: [fn(&mut Request); 5] = [
                |request| request.chunk = 24,
                |request| request.chunk = 0,
                |request| request.bounds[0] = (-1, 6),
                |request| request.bytes = 0,
                |request| request.verb = Verb::Accumulate(1),
            ];
            for spoil in hostile {
                let mut one =
                    Requests { requests: requests.requests[..1].to_vec(), operators: requests.operators.clone() };
                spoil(&mut one.requests[0]);
                let error = ask(one.encode(&[1; 24])).unwrap_err().to_string();
                assert!(error.contains("a one-sided operation of rank 0 on array \"array\""), "{error}");
            }
            assert!(
                ask(requests.encode(&[1; 44])).unwrap_err().to_string().contains("less data than it has cells for")
            );
            Ok(())
        };
        crate::run_with(Config::apart(1), program).unwrap();
    }
}
