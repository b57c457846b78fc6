//! [`HostPrimitives`]: primitives in mapped memory, on the cores of the rank.

use zippy::World;
use zippy::collective::CellSequence;
use zippy::error::Result;

use crate::backend::PrimitiveBackend;
use crate::permute::CellIndices;
use crate::scan::ScanOperation;
use crate::sort::{GroupedKeys, SortRoom};
use crate::sort_key::{KeyOrder, SortedRun};
use crate::{amplify, heads, histogram, merge, permute, scan, select, sort};

/// Primitives by the host's threads. Kernels scan with custom operators and transformed cells.
pub(crate) struct HostPrimitives;

impl PrimitiveBackend for HostPrimitives {
    fn is_host_scan(&self, operation: &ScanOperation<'_>) -> bool {
        operation.fits_host()
    }

    fn widened_sum(&self, _: &World, numbers: &CellSequence) -> Result<u64> {
        scan::widened_sum_on_host(numbers)
    }

    fn head_flags(&self, world: &World, keys: &CellSequence, key: Option<Vec<u8>>) -> Result<CellSequence> {
        heads::flags_on_host(world, keys, key)
    }

    fn mark(&self, _: &World, flags: &CellSequence, marks: &CellSequence) -> Result<()> {
        select::mark_on_host(flags, marks)
    }

    fn tails(&self, world: &World, heads: &CellSequence) -> Result<CellSequence> {
        select::tails_on_host(world, heads)
    }

    fn count_selected(&self, _: &World, flags: &CellSequence) -> Result<(u64, Option<CellSequence>)> {
        Ok((select::count_selected_on_host(flags)?, None))
    }

    fn reduce_runs(
        &self,
        world: &World,
        operation: &ScanOperation<'_>,
        inputs: [&CellSequence; 2],
        outputs: [&CellSequence; 2],
    ) -> Result<u64> {
        let in_place = outputs.iter().any(|to| inputs.iter().any(|of| to.shares_memory(of)));
        if self.is_host_scan(operation) && !in_place {
            select::reduce_runs_on_host(world, operation, inputs, outputs)
        } else {
            select::reduce_runs_by_scan(world, operation, inputs, outputs)
        }
    }

    fn gather(
        &self,
        world: &World,
        input: &CellSequence,
        indices: CellIndices<'_>,
        output: &CellSequence,
    ) -> Result<()> {
        permute::gather_on_host(world, input, indices, output)
    }

    fn scatter(
        &self,
        world: &World,
        input: &CellSequence,
        indices: CellIndices<'_>,
        output: &CellSequence,
    ) -> Result<()> {
        permute::scatter_on_host(world, input, indices, output)
    }

    fn count_numbers(&self, world: &World, numbers: &CellSequence, counts: &CellSequence) -> Result<()> {
        histogram::count_on_host(world.gpu(), numbers, counts)
    }

    fn max_amplified_counts(&self, _: &World) -> u64 {
        u64::MAX
    }

    fn amplify(&self, _: &World, counts: &CellSequence, first: u32, pairs: &CellSequence) -> Result<()> {
        amplify::amplify_on_host(counts, first, pairs)
    }

    fn check_cells(&self, _: &CellSequence) -> Result<()> {
        Ok(())
    }

    fn sort(
        &self,
        world: &World,
        order: KeyOrder,
        keys: &CellSequence,
        values: Option<&CellSequence>,
        room: Option<&SortRoom>,
    ) -> Result<()> {
        sort::sort_on_host(world, order, keys, values, room)
    }

    fn group_by_rank(
        &self,
        world: &World,
        order: KeyOrder,
        cells: (&CellSequence, Option<&CellSequence>),
        room: &SortRoom,
        boundaries: &[u64],
    ) -> Result<GroupedKeys> {
        sort::group_on_host(world, order, cells, room, boundaries)
    }

    fn merge(
        &self,
        world: &World,
        order: KeyOrder,
        runs: &[SortedRun],
        keys: &CellSequence,
        values: Option<&CellSequence>,
    ) -> Result<()> {
        if let [first, second] = runs {
            let runs = [first, second].map(|(keys, values)| (keys, values.as_ref()));
            merge::merge_on_host(world, order, runs, keys, values)
        } else {
            merge::merge_by_kernels(world, order, runs, keys, values)
        }
    }
}
