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

    /// Returns the sum of 32-bit numbers in 64 bits.
    fn widened_sum(&self, world: &World, numbers: &CellSequence) -> Result<u64>;

    /// Returns a flag per cell, not 0 if the cell's key differs from the previous one; `key` is the
    /// key before the first cell.
    fn head_flags(&self, world: &World, keys: &CellSequence, key: Option<Vec<u8>>) -> Result<CellSequence>;

    /// Sets marks to 1 where flags are not 0, and to 0 elsewhere.
    fn mark(&self, world: &World, flags: &CellSequence, marks: &CellSequence) -> Result<()>;

    /// Returns flags of the last cells of segments, computed from the flags `heads` of their first
    /// cells.
    fn tails(&self, world: &World, heads: &CellSequence) -> Result<CellSequence>;

    /// Returns the number of cells whose flag is not 0; and the number of such cells before each
    /// cell, if kernels move the cells.
    fn count_selected(&self, world: &World, flags: &CellSequence) -> Result<(u64, Option<CellSequence>)>;

    /// Writes the key of each run of equal keys and the combination of the run's values to the
    /// outputs; returns the number of runs.
    fn reduce_runs(
        &self,
        world: &World,
        operation: &ScanOperation<'_>,
        inputs: [&CellSequence; 2],
        outputs: [&CellSequence; 2],
    ) -> Result<u64>;

    /// Sets each output cell to the input cell with its index. Indices of other ranks' cells give
    /// unspecified values. The output is in separate memory.
    fn gather(
        &self,
        world: &World,
        input: &CellSequence,
        indices: CellIndices<'_>,
        output: &CellSequence,
    ) -> Result<()>;

    /// Sets the output cells with these indices to the input cells, which are in separate memory.
    /// Indices of other ranks' cells are ignored.
    fn scatter(
        &self,
        world: &World,
        input: &CellSequence,
        indices: CellIndices<'_>,
        output: &CellSequence,
    ) -> Result<()>;

    /// Sets each bin of `counts` to the number of cells that are equal to its index.
    fn count_numbers(&self, world: &World, numbers: &CellSequence, counts: &CellSequence) -> Result<()>;

    /// Returns the maximum number of counts that one call of `amplify` expands.
    fn max_amplified_counts(&self, world: &World) -> u64;

    /// Writes `count` pairs of an item and a copy index for each item; `first` is the index of the
    /// first item.
    fn amplify(&self, world: &World, counts: &CellSequence, first: u32, pairs: &CellSequence) -> Result<()>;

    /// Fails if there are too many cells for a sort or merge.
    fn check_cells(&self, keys: &CellSequence) -> Result<()>;

    /// Sorts keys with optional values; uses the temporary memory of the caller if there is any.
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

/// Choice of the backend of the primitives for a rank.
pub(crate) trait HasBackend {
    fn backend(&self) -> &'static dyn PrimitiveBackend;
}
