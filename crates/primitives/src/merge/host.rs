//! Merge of two sorted runs on the host.

use zippy::World;
use zippy::collective::CellSequence;
use zippy::error::Result;

use crate::host_pairs::{self, lend_pairs};
use crate::sort_key::KeyOrder;

/// Merges two sorted runs into cells of separate memory; equal keys stay in the order of the runs.
pub(crate) fn merge_on_host(
    world: &World,
    order: KeyOrder,
    runs: [(&CellSequence, Option<&CellSequence>); 2],
    keys: &CellSequence,
    values: Option<&CellSequence>,
) -> Result<()> {
    // The same cells may be an input several times, but are lent only once.
    let mut inputs: Vec<CellSequence> = Vec::new();
    for cells in runs.iter().flat_map(|(keys, values)| std::iter::once(*keys).chain(*values)) {
        let shared = cells.has_cells_twice() || inputs.iter().any(|input| input.overlaps(cells));
        inputs.push(if shared { cells.copied()? } else { cells.clone() });
    }
    let mut inputs = inputs.iter();
    let [first, second] = runs.map(|(_, values)| (inputs.next().expect("keys"), values.and_then(|_| inputs.next())));
    let lists = [first, second, (keys, values)];
    let threads = world.gpu().host_threads();
    lend_pairs(world, lists, |[first, second, output]| host_pairs::merge(threads, order, [first, second], output))?;
    std::iter::once(keys).chain(values).for_each(|cells| cells.were_written(0..cells.len()));
    Ok(())
}
