//! What the ranks tell rank 0, where each may have a mistake to tell.

use crate::World;
use crate::error::Result;

/// What each rank tells, on rank 0; or what is wrong on the first one that says so. Called by all ranks, inside of an
/// operation.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn told(world: &World, own: Result<Vec<u8>, String>) -> Result<Option<Result<Vec<Vec<u8>>, String>>> {
    let mut bytes = match own {
        Ok(bytes) => bytes,
        Err(text) => return collected(world, [text.as_bytes(), &[0]].concat()),
    };
    bytes.push(1);
    collected(world, bytes)
}

fn collected(world: &World, own: Vec<u8>) -> Result<Option<Result<Vec<Vec<u8>>, String>>> {
    let all = world.inner().gather(0, Box::new(own))?;
    Ok(all.map(|all| {
        let each = all.iter().enumerate().map(|(rank, told)| match (**told).as_ref() {
            [bytes @ .., 1] => Ok(bytes.to_vec()),
            [text @ .., _] => Err(format!("on rank {rank}, {}", String::from_utf8_lossy(text))),
            [] => Err(format!("rank {rank} has told nothing")),
        });
        each.collect()
    }))
}
