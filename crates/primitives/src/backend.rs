//! [`PrimitiveBackend`]: implementation of the primitives on cells of one rank.

use zippy::World;
use zippy::collective::CellSequence;
use zippy::error::Result;

use crate::permute::CellIndices;
use crate::scan::ScanOperation;
use crate::sort::{GroupedKeys, SortRoom};
use crate::sort_key::{KeyOrder, SortedRun};

/// Implementation of the primitives by [the host](crate::host_primitives::HostPrimitives), in
/// mapped memory, or by [kernels](crate::kernel_primitives::KernelPrimitives). The functions that
/// call a method check its arguments.
pub(crate) trait PrimitiveBackend {
    /// True if the host runs a scan. Depends only on adapter, element, operator and transform: the
    /// bits of a result do not depend on the location of the cells.
    fn is_host_scan(&self, operation: &ScanOperation<'_>) -> bool;

    /// The sum of some numbers in 64 bits.
    fn widened_sum(&self, world: &World, numbers: &CellSequence) -> Result<u64>;

    /// Flags of the cells that differ from the previous cell; `key` is the cell before the first
    /// one.
    fn head_flags(&self, world: &World, keys: &CellSequence, key: Option<Vec<u8>>) -> Result<CellSequence>;

    /// Sets marks to 1 where flags are not 0, and to 0 elsewhere.
    fn mark(&self, world: &World, flags: &CellSequence, marks: &CellSequence) -> Result<()>;

    /// Flags of the last cells of segments, from flags of their first cells.
    fn tails(&self, world: &World, heads: &CellSequence) -> Result<CellSequence>;

    /// The number of cells whose flag is not 0; and their number before each cell, if kernels move
    /// the cells.
    fn count_selected(&self, world: &World, flags: &CellSequence) -> Result<(u64, Option<CellSequence>)>;

    /// Writes the key of each run of equal keys and the combination of its values to the outputs;
    /// returns the number of runs.
    fn reduce_runs(
        &self,
        world: &World,
        operation: &ScanOperation<'_>,
        inputs: [&CellSequence; 2],
        outputs: [&CellSequence; 2],
    ) -> Result<u64>;

    /// Sets each cell of the output to the cell of the input with its index. Indices of other
    /// ranks' cells give any value. The output is in separate memory.
    fn gather(
        &self,
        world: &World,
        input: &CellSequence,
        indices: CellIndices<'_>,
        output: &CellSequence,
    ) -> Result<()>;

    /// Sets the cells of the output with these indices to the cells of the input, which is in
    /// separate memory. Indices of other ranks' cells are ignored.
    fn scatter(
        &self,
        world: &World,
        input: &CellSequence,
        indices: CellIndices<'_>,
        output: &CellSequence,
    ) -> Result<()>;

    /// Sets each bin of `counts` to the number of cells that are equal to its index.
    fn count_numbers(&self, world: &World, numbers: &CellSequence, counts: &CellSequence) -> Result<()>;

    /// Maximum number of counts that are amplified at a time.
    fn max_amplified_counts(&self, world: &World) -> u64;

    /// Writes `count` pairs of an item and a copy index for each item; `first` is the index of the
    /// first item.
    fn amplify(&self, world: &World, counts: &CellSequence, first: u32, pairs: &CellSequence) -> Result<()>;

    /// Fails if there are too many cells for a sort or merge.
    fn check_cells(&self, keys: &CellSequence) -> Result<()>;

    /// Sorts keys with optional values, with existing temporary memory if there is any.
    fn sort(
        &self,
        world: &World,
        order: KeyOrder,
        keys: &CellSequence,
        values: Option<&CellSequence>,
        room: Option<&SortRoom>,
    ) -> Result<()>;

    /// Groups keys by destination rank: the first rank gets the keys of the whole vector before the
    /// first boundary, and so on. Equal keys keep their order. Collective.
    fn group_by_rank(
        &self,
        world: &World,
        order: KeyOrder,
        cells: (&CellSequence, Option<&CellSequence>),
        room: &SortRoom,
        boundaries: &[u64],
    ) -> Result<GroupedKeys>;

    /// Merges sorted runs into cells of separate memory; equal keys stay in the order of the runs.
    fn merge(
        &self,
        world: &World,
        order: KeyOrder,
        runs: &[SortedRun],
        keys: &CellSequence,
        values: Option<&CellSequence>,
    ) -> Result<()>;
}

/// Choice of the backend.
pub(crate) trait HasBackend {
    /// The backend for the device of this rank.
    fn backend(&self) -> &'static dyn PrimitiveBackend;
}
