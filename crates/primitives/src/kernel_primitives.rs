//! [`KernelPrimitives`]: primitives by kernels.

use zippy::World;
use zippy::collective::CellSequence;
use zippy::error::Result;

use crate::backend::PrimitiveBackend;
use crate::permute::CellIndices;
use crate::scan::ScanOperation;
use crate::sort::{GroupedKeys, SortRoom};
use crate::sort_key::{KeyOrder, SortedRun, check_positions};
use crate::{amplify, heads, histogram, merge, permute, scan, select, sort};

/// Primitives by kernels on the device. The host scans cells of 8, 16 and 64 bits.
pub(crate) struct KernelPrimitives;

impl PrimitiveBackend for KernelPrimitives {
    fn is_host_scan(&self, operation: &ScanOperation<'_>) -> bool {
        operation.needs_host()
    }

    fn widened_sum(&self, world: &World, numbers: &CellSequence) -> Result<u64> {
        scan::widened_sum_by_scan(world, numbers)
    }

    fn head_flags(&self, world: &World, keys: &CellSequence, key: Option<Vec<u8>>) -> Result<CellSequence> {
        heads::flags_by_kernel(world, keys, key)
    }

    fn mark(&self, world: &World, flags: &CellSequence, marks: &CellSequence) -> Result<()> {
        select::mark_by_kernel(world, flags, marks)
    }

    fn tails(&self, world: &World, heads: &CellSequence) -> Result<CellSequence> {
        select::tails_by_kernel(world, heads)
    }

    fn count_selected(&self, world: &World, flags: &CellSequence) -> Result<(u64, Option<CellSequence>)> {
        let (count, before) = select::count_selected_by_scan(world, flags)?;
        Ok((count, Some(before)))
    }

    fn reduce_runs(
        &self,
        world: &World,
        operation: &ScanOperation<'_>,
        inputs: [&CellSequence; 2],
        outputs: [&CellSequence; 2],
    ) -> Result<u64> {
        select::reduce_runs_by_scan(world, operation, inputs, outputs)
    }

    fn gather(
        &self,
        world: &World,
        input: &CellSequence,
        indices: CellIndices<'_>,
        output: &CellSequence,
    ) -> Result<()> {
        permute::gather_by_kernel(world, input, indices, output)
    }

    fn scatter(
        &self,
        world: &World,
        input: &CellSequence,
        indices: CellIndices<'_>,
        output: &CellSequence,
    ) -> Result<()> {
        permute::scatter_by_kernel(world, input, indices, output)
    }

    fn count_numbers(&self, world: &World, numbers: &CellSequence, counts: &CellSequence) -> Result<()> {
        histogram::count_by_kernel(world, numbers, counts)
    }

    fn max_amplified_counts(&self, world: &World) -> u64 {
        // The kernel searches the counts in one buffer.
        world.gpu().limits().buffer_bytes / 4
    }

    fn amplify(&self, world: &World, counts: &CellSequence, first: u32, pairs: &CellSequence) -> Result<()> {
        amplify::amplify_by_kernel(world, counts, first, pairs)
    }

    fn check_cells(&self, keys: &CellSequence) -> Result<()> {
        check_positions(keys)
    }

    fn sort(
        &self,
        world: &World,
        order: KeyOrder,
        keys: &CellSequence,
        values: Option<&CellSequence>,
        room: Option<&SortRoom>,
    ) -> Result<()> {
        sort::sort_by_kernels(world, order, keys, values, room)
    }

    fn group_by_rank(
        &self,
        world: &World,
        order: KeyOrder,
        cells: (&CellSequence, Option<&CellSequence>),
        room: &SortRoom,
        boundaries: &[u64],
    ) -> Result<GroupedKeys> {
        sort::group_by_kernels(world, order, cells, room, boundaries)
    }

    fn merge(
        &self,
        world: &World,
        order: KeyOrder,
        runs: &[SortedRun],
        keys: &CellSequence,
        values: Option<&CellSequence>,
    ) -> Result<()> {
        merge::merge_by_kernels(world, order, runs, keys, values)
    }
}
