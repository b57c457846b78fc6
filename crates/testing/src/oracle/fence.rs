use super::execute::Combine;
use super::{Memory, Operand};
use zippy_plan::error::PlanError;
use zippy_plan::plan::one_sided::{Access, ChunkPart, batches, split};
use zippy_plan::region::Region;

/// Kind of a one-sided operation, with its values.
#[derive(Debug, Clone, PartialEq)]
pub enum Verb<T> {
    /// Reads the section.
    Get,
    /// Replaces the section by values, axis 0 fastest.
    Put(Vec<T>),
    /// Combines values with the section, axis 0 fastest.
    Accumulate(Vec<T>),
}

/// One-sided operation. The operations of a rank run in the order of their list.
#[derive(Debug, Clone, PartialEq)]
pub struct Request<T> {
    /// Rank that queued the operation.
    pub rank: usize,
    /// Index of the operand.
    pub array: usize,
    /// Cells of the section.
    pub region: Region,
    /// Kind of the operation.
    pub verb: Verb<T>,
}

/// Runs the operations that all ranks queued since the last fence on host memory. Returns the cells
/// that each operation read, axis 0 fastest; empty for put and accumulate.
///
/// Each owner runs its parts of the operations batch by batch, in reverse order in a batch.
///
/// # Errors
/// [`PlanError::Region`]: a region is not inside its array.
pub fn fence<T: Clone + Default>(
    requests: &[Request<T>],
    operands: &[Operand<'_>],
    memories: &mut [Memory<T>],
    combine: Combine<'_, T>,
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

/// Access of a part: the memory and the cells in it, independent of the chunk's index.
fn access<T>(number: usize, part: &ChunkPart, requests: &[Request<T>], operands: &[Operand<'_>]) -> Access {
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
    operands: &[Operand<'_>],
    memories: &mut [Memory<T>],
    combine: Combine<'_, T>,
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
            let write: Combine<'_, T> = if put { &replace } else { combine };
            memories[memory].write(placement, part.chunk, &part.region, &values, write);
        }
    }
}
