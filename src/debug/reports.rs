//! Reports of all ranks, gathered on rank 0. Each rank reports bytes or an error text.

use crate::World;
use crate::error::Result;
use crate::world::CollectiveWorld;

/// Bytes that a rank contributes to an answer, or its error text.
pub(super) type Report = Result<Vec<u8>, String>;

/// Gathers the reports of all ranks on rank 0, in ascending order of ranks, or returns the error
/// text of the lowest rank that failed; the other ranks return `None`. All ranks must call it,
/// inside a collective operation.
pub(super) fn gather_reports(world: &World, report: Report) -> Result<Option<Result<Vec<Vec<u8>>, String>>> {
    let mut bytes = match report {
        Ok(bytes) => bytes,
        Err(text) => return gather(world, [text.as_bytes(), &[0]].concat()),
    };
    bytes.push(1);
    gather(world, bytes)
}

fn gather(world: &World, report: Vec<u8>) -> Result<Option<Result<Vec<Vec<u8>>, String>>> {
    let all = world.inner_group().gather(0, Box::new(report))?;
    Ok(all.map(|all| {
        let each = all.iter().enumerate().map(|(rank, report)| match (**report).as_ref() {
            [bytes @ .., 1] => Ok(bytes.to_vec()),
            [text @ .., _] => Err(format!("on rank {rank}, {}", String::from_utf8_lossy(text))),
            [] => Err(format!("rank {rank} sent an empty report")),
        });
        each.collect()
    }))
}
