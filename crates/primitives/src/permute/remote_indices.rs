//! Indices into a distributed vector: those of this rank's cells, and those of other ranks' cells.

use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::element::Element;
use zippy::error::Result;

use super::cell_indices::LocalPositions;
use crate::numbers::over_numbers;
use crate::scan::largest;

/// Returns one more than the largest index, and the number of indices of other ranks' cells.
pub(super) fn survey(world: &World, indices: &CellSequence, local_positions: &LocalPositions<'_>) -> Result<[u64; 2]> {
    if local_positions.has_all() {
        return Ok([largest(world, indices)?.map_or(0, |index| u64::from(index) + 1), 0]);
    }
    let (mut end, mut remote) = (0, 0);
    over_numbers(indices, |_, some| {
        end = some.iter().fold(end, |end, &index| end.max(u64::from(index) + 1));
        remote += some.iter().filter(|&&index| local_positions.position(index).is_none()).count() as u64;
        Ok(())
    })?;
    Ok([end, remote])
}

/// Indices of cells that other ranks own.
pub(super) struct RemoteIndices {
    pub indices: CellSequence,
    /// Rank that owns the cell of each index.
    pub ranks: CellSequence,
    /// Position of each index among all indices of this rank.
    pub positions: CellSequence,
}

impl RemoteIndices {
    /// Collects the `count` indices of other ranks' cells; all indices must be valid.
    pub(super) fn new(
        world: &World,
        indices: &CellSequence,
        local_positions: &LocalPositions<'_>,
        count: u64,
    ) -> Result<Self> {
        let room = |name| world.scratch_cells(name, &u32::INFO, count);
        let all = Self { indices: room("indices")?, ranks: room("ranks")?, positions: room("positions")? };
        let mut begin = 0;
        over_numbers(indices, |first, some| {
            let position = |index: usize| (first + index as u64) as u32;
            let found: Vec<usize> =
                (0..some.len()).filter(|&index| local_positions.position(some[index]).is_none()).collect();
            let cells = begin..begin + found.len() as u64;
            begin = cells.end;
            let write = |to: &CellSequence, number: &dyn Fn(usize) -> u32| {
                let numbers: Vec<u32> = found.iter().map(|&index| number(index)).collect();
                to.write(cells.clone(), bytemuck::cast_slice(&numbers))
            };
            write(&all.indices, &|index| some[index])?;
            write(&all.ranks, &|index| local_positions.owner(some[index]) as u32)?;
            write(&all.positions, &position)
        })?;
        Ok(all)
    }
}
