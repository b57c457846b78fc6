//! [`SortRoom`]: temporary memory of a sort.

use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::error::Result;

/// Temporary memory for the keys and values of a sort, called room.
pub(crate) struct SortRoom {
    pub keys: CellSequence,
    pub values: Option<CellSequence>,
}

impl SortRoom {
    pub(super) fn new(world: &World, keys: &CellSequence, values: Option<&CellSequence>) -> Result<Self> {
        let room = |cells: &CellSequence| world.scratch_cells("room for a sort", cells.element(), cells.len());
        Ok(Self { keys: room(keys)?, values: values.map(room).transpose()? })
    }

    pub(super) fn first(&self, cells: u64) -> Self {
        let first = |all: &CellSequence| all.only(0..cells);
        Self { keys: first(&self.keys), values: self.values.as_ref().map(first) }
    }

    pub(super) fn is_one_chunk(&self) -> bool {
        std::iter::once(&self.keys).chain(&self.values).all(|cells| cells.parts().len() == 1)
    }
}

/// Keys and values grouped by destination rank.
pub(crate) struct GroupedKeys {
    /// True if the grouped keys are in the temporary memory.
    pub in_room: bool,
    /// Number of keys for each destination rank, in ascending order of ranks.
    pub runs: Vec<u64>,
}
