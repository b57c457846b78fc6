//! Scans and reductions with any associative operator, on one rank.
//!
//! Cells are combined in order. If the result depends on the association (floating-point numbers,
//! custom operators), the association depends only on the positions of the cells: the sequence is
//! cut into blocks of 2,048 cells and these into runs of 16; runs are combined from the left, the
//! runs of a block by a binary tree, and blocks from the left.

mod association;
mod combination;
mod host;
mod kernels;
mod operation;
mod over_ranks;
mod segmentation;
mod steps;
mod transform;
mod vector_combination;

use bytemuck::{bytes_of, pod_read_unaligned};
use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld};
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::Result;

pub(super) use self::association::CELLS_PER_BLOCK;
pub use self::combination::Combination;
pub(super) use self::host::{scan as scan_on_host, widened_sum as widened_sum_on_host};
use self::kernels::Blocks;
pub(super) use self::operation::{Carry, ScanOperation};
pub(super) use self::segmentation::Segmentation;
pub use self::segmentation::{ByFlag, ByKey, Whole};
pub use self::vector_combination::VectorCombination;
use super::backend::HasBackend;
use super::heads::Heads;

/// Scans cells, or only reduces them without an output; returns the combination of all cells.
pub(super) fn run(
    world: &World,
    operation: &ScanOperation<'_>,
    input: &CellSequence,
    heads: Heads<'_>,
    output: Option<&CellSequence>,
) -> Result<Carry> {
    let is_host_scan = world.backend().is_host_scan(operation);
    operation.check(world.gpu(), is_host_scan)?;
    if let Some(heads) = heads.cells() {
        input.check_length(heads, "the sequence of segment heads")?;
    }
    let input = &input.clone().apart_from(output, operation.transform.is_none())?;
    let heads_copy = heads.cells().map(|heads| heads.clone().apart_from(output, false)).transpose()?;
    let heads = heads.with(heads_copy.as_ref());
    if is_host_scan {
        return host::scan(world.gpu(), operation, input, heads, output, Carry::default());
    }
    let mut key = None;
    let flags = kernels::flags(world, heads, &mut key)?;
    let blocks = Blocks::new(world, operation, input, flags.as_ref(), output)?;
    let carry = blocks.carry(Carry::default())?;
    if output.is_some() {
        blocks.write()?;
    }
    Ok(carry)
}

/// Replaces counts by their exclusive prefix sums, with kernels.
pub(super) fn scan_counts(world: &World, counts: &CellSequence) -> Result<()> {
    let operation = ScanOperation { first: Some(&[0; 4]), ..ScanOperation::inclusive(&Operator::Add, &u32::INFO) };
    let blocks = Blocks::new(world, &operation, counts, None, Some(counts))?;
    blocks.start()?;
    blocks.write()
}

/// Returns the maximum of 32-bit numbers; `None` without cells.
pub(super) fn largest(world: &World, numbers: &CellSequence) -> Result<Option<u32>> {
    let operation = ScanOperation::inclusive(&Operator::Max, &u32::INFO);
    Ok(run(world, &operation, numbers, Heads::None, None)?.item.map(|item| pod_read_unaligned(&item.value)))
}

/// Returns the sum of 32-bit numbers in 64 bits.
pub(super) fn widened_sum(world: &World, numbers: &CellSequence) -> Result<u64> {
    world.backend().widened_sum(world, numbers)
}

/// Computes [`widened_sum`] by a scan of two words per number.
pub(super) fn widened_sum_by_scan(world: &World, numbers: &CellSequence) -> Result<u64> {
    // Two words with a carry.
    let add = Operator::custom(
        "add in 64 bits",
        "fn combine(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
            let low = a.x + b.x;
            return vec2<u32>(low, a.y + b.y + u32(low < a.x));
        }",
    );
    let transform = Some((&u32::INFO, "vec2<u32>(x, 0u)"));
    let operation = ScanOperation { transform, ..ScanOperation::inclusive(&add, &<[u32; 2]>::INFO) };
    let all = run(world, &operation, numbers, Heads::None, None)?;
    let [low, high] = all.item.map_or([0, 0], |item| pod_read_unaligned::<[u32; 2]>(&item.value));
    Ok(u64::from(high) << 32 | u64::from(low))
}

/// Returns the numbers 0 to `cells` − 1 in ascending order.
pub(super) fn count(world: &World, cells: u64) -> Result<CellSequence> {
    let numbers = world.scratch_cells("numbers", &u32::INFO, cells)?;
    numbers.fill(bytes_of(&1_u32))?;
    let operation = ScanOperation { first: Some(&[0; 4]), ..ScanOperation::inclusive(&Operator::Add, &u32::INFO) };
    run(world, &operation, &numbers, Heads::None, Some(&numbers))?;
    Ok(numbers)
}
