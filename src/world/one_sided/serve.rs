//! The owner's side of a fence: running what was asked, in (rank, sequence) order.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::wire::{Requests, Verb};
use crate::array::{ArrayCore, ArrayId};
use crate::device::{Operator, Piece};
use crate::error::{ArrayError, Result};
use crate::plan::one_sided::{Access, batches};
use crate::region::Region;
use crate::transport::Payload;
use crate::world::World;

/// One request, ready to run.
struct Job {
    source: usize,
    sequence: u64,
    array: Rc<ArrayCore>,
    chunk: usize,
    region: Region,
    verb: Verb,
    /// Its payload in the source's message.
    payload: Range<usize>,
    /// Its place in the reply to the source.
    reply: Range<usize>,
}

/// Runs the requests of all ranks and returns the replies.
pub(super) fn serve(world: &World, incoming: Vec<(usize, Payload)>) -> Result<Vec<(usize, Vec<u8>)>> {
    let mut jobs = Vec::new();
    let mut replies: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
    let mut operators = Vec::new();
    for (index, (rank, message)) in incoming.iter().enumerate() {
        let (requests, start) = Requests::decode((**message).as_ref())?;
        operators.push(requests.operators()?);
        let reply = unpack(world, index, requests, start, &mut jobs)?;
        if reply > 0 {
            replies.insert(*rank, vec![0; reply]);
        }
    }
    let accesses: Vec<Access> = jobs.iter().map(access).collect();
    for batch in batches(&accesses) {
        let jobs: Vec<&Job> = batch.into_iter().map(|index| &jobs[index]).collect();
        run(world, &jobs, &incoming, &operators, &mut replies)?;
    }
    Ok(replies.into_iter().collect())
}

fn unpack(world: &World, source: usize, requests: Requests, start: usize, jobs: &mut Vec<Job>) -> Result<usize> {
    let (mut at, mut reply) = (start, 0);
    for request in requests.requests {
        let array = world.array_of(ArrayId(request.array))?;
        let region = request.region();
        let bytes = request.bytes as usize;
        let (mut payload, mut answer) = (0..0, 0..0);
        if request.verb == Verb::Get {
            answer = reply..reply + bytes;
            reply += bytes;
        } else {
            payload = at..at + bytes;
            at += bytes;
        }
        jobs.push(Job {
            source,
            sequence: request.sequence,
            array,
            chunk: request.chunk as usize,
            region,
            verb: request.verb,
            payload,
            reply: answer,
        });
    }
    Ok(reply)
}

fn access(job: &Job) -> Access {
    // Handles of the same chunks (after a re-arrangement) must be seen as one: the buffer names the memory.
    let target = job.array.buffer(job.chunk).map_or(0, |buffer| buffer.id());
    let origin = job.array.chunks().storage(job.chunk).start;
    let local = Region { start: job.region.start - origin, end: job.region.end - origin };
    // Messages are sorted by rank, so the message's number stands for it.
    Access { rank: job.source, sequence: job.sequence, array: target, region: local, writes: job.verb != Verb::Get }
}

/// Runs requests of which no two touch the same cell unless both only read it.
fn run(
    world: &World,
    jobs: &[&Job],
    incoming: &[(usize, Payload)],
    operators: &[Vec<Operator>],
    replies: &mut BTreeMap<usize, Vec<u8>>,
) -> Result<()> {
    let mut groups: BTreeMap<(usize, u8, u32, usize), Vec<&Job>> = BTreeMap::new();
    for &job in jobs {
        let (kind, operator) = match job.verb {
            Verb::Get => (0, 0),
            Verb::Put => (1, 0),
            Verb::Accumulate(operator) => (2, operator),
        };
        // Gets of all sources go together; what arrives goes message by message.
        let source = if kind == 0 { usize::MAX } else { job.source };
        let element = std::ptr::from_ref(job.array.element()) as usize;
        groups.entry((source, kind, operator, element)).or_default().push(job);
    }
    for ((source, kind, operator, _), jobs) in groups {
        let element = jobs[0].array.element();
        if kind == 0 {
            let (pieces, bytes) = pieces(&jobs, |_, next| next);
            let staged = world.device().gather(element.bytes, &pieces, bytes)?;
            let data: &[u8] = staged.as_ref();
            let mut at = 0;
            for job in jobs {
                let reply = replies.get_mut(&incoming[job.source].0).expect("a reply was made for every get");
                reply[job.reply.clone()].copy_from_slice(&data[at..at + job.reply.len()]);
                at += job.reply.len();
            }
            continue;
        }
        let message = (*incoming[source].1).as_ref();
        let (pieces, _) = pieces(&jobs, |job, _| job.payload.start as u64);
        match kind {
            1 => world.device().scatter(element.bytes, message, &pieces)?,
            _ => world.device().combine(element, message, &pieces, &operators[source][operator as usize])?,
        }
    }
    Ok(())
}

/// The boxes of jobs; `offset` gets a job and the end of the one before.
fn pieces<'a>(jobs: &[&'a Job], offset: impl Fn(&Job, u64) -> u64) -> (Vec<Piece<'a>>, u64) {
    let mut next = 0;
    let pieces = jobs.iter().filter_map(|job| {
        let piece = Piece {
            buffer: job.array.buffer(job.chunk)?,
            view: job.array.strided(job.chunk, &job.region),
            payload_offset: offset(job, next),
        };
        next += job.reply.len() as u64;
        Some(piece)
    });
    (pieces.collect(), next)
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
