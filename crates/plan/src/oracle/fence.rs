//! Executing a one-sided epoch on host memory, as owners serve it.

use super::execute::Combine;
use super::{Memory, Operand};
use crate::error::PlanError;
use crate::plan::one_sided::{Access, ChunkPart, batches, split};
use crate::region::Region;

/// What a one-sided operation does with its section.
#[derive(Debug, Clone, PartialEq)]
pub enum Verb<T> {
    /// Reads it.
    Get,
    /// Replaces it by these values, axis 0 fastest.
    Put(Vec<T>),
    /// Combines these values with it.
    Accumulate(Vec<T>),
}

/// A one-sided operation. Operations of one rank run in the order in which they stand.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<T> {
    /// The rank that queued it.
    pub rank: usize,
    /// The operand.
    pub array: usize,
    /// The cells.
    pub region: Region,
    /// What is done.
    pub verb: Verb<T>,
}

/// Runs the operations that all ranks queued since the last fence: each is cut by owner, and each owner runs its parts
/// batch by batch, back to front within a batch. Returns the cells that each operation read (nothing for put and
/// accumulate), axis 0 fastest.
///
/// # Errors
/// A region that leaves its array.
pub fn fence<T: Clone + Default>(
    requests: &[Request<T>],
    operands: &[Operand],
    memories: &mut [Memory<T>],
    combine: Combine<T>,
) -> Result<Vec<Vec<T>>, PlanError> {
    let ranks = operands.first().map_or(0, |operand| operand.placement.ranks());
    let mut parts: Vec<Vec<(usize, ChunkPart)>> = vec![Vec::new(); ranks];
    let mut read = Vec::with_capacity(requests.len());
    for (number, request) in requests.iter().enumerate() {
        for part in split(operands[request.array].placement, &request.region)? {
            parts[part.owner.rank].push((number, part));
        }
        let cells = if matches!(request.verb, Verb::Get) { request.region.cells() as usize } else { 0 };
        read.push(vec![T::default(); cells]);
    }
    for parts in parts {
        let accesses: Vec<_> = parts.iter().map(|(number, part)| access(*number, part, requests, operands)).collect();
        for index in batches(&accesses).into_iter().flat_map(|batch| batch.into_iter().rev()) {
            let (number, part) = &parts[index];
            serve(&requests[*number], part, operands, memories, combine, &mut read[*number]);
        }
    }
    Ok(read)
}

/// A part as its owner sees it: which memory, and which cells of it, whatever the chunk is called.
fn access<T>(number: usize, part: &ChunkPart, requests: &[Request<T>], operands: &[Operand]) -> Access {
    let Request { rank, array, verb, .. } = &requests[number];
    let Operand { placement, memory } = operands[*array];
    let origin = placement.chunks().storage(part.chunk).start;
    let region = Region { start: part.region.start - origin, end: part.region.end - origin };
    let array = (memory << 32 | part.owner.slot) as u64;
    Access { rank: *rank, sequence: number as u64, array, region, writes: !matches!(verb, Verb::Get) }
}

fn serve<T: Clone>(
    request: &Request<T>,
    part: &ChunkPart,
    operands: &[Operand],
    memories: &mut [Memory<T>],
    combine: Combine<T>,
    read: &mut [T],
) {
    let Operand { placement, memory } = operands[request.array];
    let whole = Region::whole(request.region.extents());
    let within = part.within.points().map(|cell| whole.offset(&cell) as usize);
    match &request.verb {
        Verb::Get => {
            let values = memories[memory].read(placement, part.chunk, part.region.points());
            within.zip(values).for_each(|(at, value)| read[at] = value.clone());
        }
        Verb::Put(values) | Verb::Accumulate(values) => {
            let values: Vec<T> = within.map(|at| values[at].clone()).collect();
            let replace = |value: &T, _: &T| value.clone();
            let put = matches!(request.verb, Verb::Put(_));
            let write: Combine<T> = if put { &replace } else { combine };
            memories[memory].write(placement, part.chunk, &part.region, &values, write);
        }
    }
}
