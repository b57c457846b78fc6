//! Moves of the last operation, of all ranks.
use zippy_protocol::{ArrayRef, MOST_MOVES, MoveEntry, Moves};

use crate::error::Result;
use crate::extents::Index;
use crate::transport::{decoded, encoded};
use crate::world::{BoxEnd, CollectiveWorld, MovedBox, World};

/// Gathers the moves of the last operation that moved cells, in ascending order of the rank that
/// reads the cells, on rank 0; the other ranks return `None`. Without such an operation, the result
/// names no operation. With more than [`MOST_MOVES`] moves, each rank reports an equal number of
/// its own. Collective: one small all-reduce and a gather of the reports.
pub(super) fn gather_moves(world: &World) -> Result<Option<Moves>> {
    let mut sums = [world.last_moves(0)].map(|moves| [moves.count, moves.bytes_local, moves.bytes_network]);
    world
        .inner_group()
        .all_reduce(&mut sums, |sum, more| sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more))?;
    let [[count, bytes_local, bytes_network]] = sums;
    let max_moves = if count <= MOST_MOVES as u64 { MOST_MOVES } else { MOST_MOVES / world.size() };
    let last = world.last_moves(max_moves);
    let entries: Vec<MoveEntry> = last.boxes.iter().map(move_entry).collect();
    let Some(all) = world.inner_group().gather(0, encoded(&entries)?)? else { return Ok(None) };
    let mut moves = Vec::new();
    for report in &all {
        moves.extend(decoded::<Vec<MoveEntry>>(report)?);
    }
    Ok(Some(Moves { operation: last.operation, moves, count, bytes_local, bytes_network }))
}

fn move_entry(moved: &MovedBox) -> MoveEntry {
    let list = |index: &Index| index.iter().copied().collect::<Vec<i64>>();
    let end = |BoxEnd { array, chunk, rank, first }: &BoxEnd| {
        (array.map(|array| ArrayRef { rank: None, number: array.0 }), *chunk as u64, *rank as u32, list(first))
    };
    MoveEntry { from: end(&moved.from), to: end(&moved.to), extents: list(&moved.extents), bytes: moved.bytes }
}
