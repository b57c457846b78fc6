//! Two sorted runs into one, by the host.

use super::SortedRun;
use crate::World;
use crate::algorithms::sort::{KeyOrder, lend_pairs, merge_lent};
use crate::array::Cells;
use crate::error::Result;

/// Merges two sorted runs, equal keys in the order of the runs, into cells of other memory.
pub fn merge(
    world: &World,
    order: KeyOrder,
    [first, second]: [&SortedRun; 2],
    keys: &Cells,
    values: Option<&Cells>,
) -> Result<()> {
    // Cells are lent once only, but may be read as several of the sequences.
    let mut inputs: Vec<Cells> = Vec::new();
    for cells in [Some(&first.0), first.1.as_ref(), Some(&second.0), second.1.as_ref()].into_iter().flatten() {
        let shared = cells.has_cells_twice() || inputs.iter().any(|input| input.overlaps(cells));
        inputs.push(if shared { cells.copied()? } else { cells.clone() });
    }
    let mut inputs = inputs.iter();
    let mut next = |run: &SortedRun| (inputs.next().expect("keys"), run.1.as_ref().and_then(|_| inputs.next()));
    let lists = [next(first), next(second), (keys, values)];
    std::iter::once(keys).chain(values).for_each(|cells| cells.were_written(0..cells.len()));
    let threads = world.gpu().host_threads();
    lend_pairs(world, lists, |[first, second, output]| merge_lent(threads, order, [first, second], output))
}
