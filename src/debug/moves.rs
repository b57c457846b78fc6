//! What the last exchange has moved between all ranks.

use super::protocol::{ArrayRef, MOST_MOVES, MoveEntry, Moves};
use crate::error::Result;
use crate::extents::Index;
use crate::transport::{decoded, encoded};
use crate::world::{BoxEnd, MovedBox, World};

/// What the last operation that moved cells has moved: on rank 0 the moves of all ranks, in order of the rank that read them,
/// and no operation where there was none. Where there are more than [`MOST_MOVES`], each rank tells as many of its own.
/// Collective; one small all-reduce and a gather of what is told.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn moves(world: &World) -> Result<Option<Moves>> {
    let mut sums = [world.last_moves(0)].map(|own| [own.count, own.bytes_local, own.bytes_network]);
    world.inner().all_reduce(&mut sums, |sum, more| sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more))?;
    let [[count, bytes_local, bytes_network]] = sums;
    let most = if count <= MOST_MOVES as u64 { MOST_MOVES } else { MOST_MOVES / world.size() };
    let own = world.last_moves(most);
    let entries: Vec<MoveEntry> = own.boxes.iter().map(entry).collect();
    let Some(all) = world.inner().gather(0, encoded(&entries)?)? else { return Ok(None) };
    let mut moves = Vec::new();
    for told in &all {
        moves.extend(decoded::<Vec<MoveEntry>>(told)?);
    }
    Ok(Some(Moves { operation: own.operation, moves, count, bytes_local, bytes_network }))
}

fn entry(of: &MovedBox) -> MoveEntry {
    let list = |index: &Index| index.iter().copied().collect::<Vec<i64>>();
    let end = |BoxEnd { array, chunk, rank, first }: &BoxEnd| {
        (array.map(|array| ArrayRef { rank: None, number: array.0 }), *chunk as u64, *rank as u32, list(first))
    };
    MoveEntry { from: end(&of.from), to: end(&of.to), extents: list(&of.extents), bytes: of.bytes }
}
