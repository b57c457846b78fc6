//! Access of the host to keys and values.

use zippy::World;
use zippy::collective::{CellSequence, lend_slices};
use zippy::error::Result;

use super::typed::BytePairs;

/// Lends keys, and values if there are any, to the host.
pub(crate) fn lend_pairs<R, const N: usize>(
    world: &World,
    pairs: [(&CellSequence, Option<&CellSequence>); N],
    f: impl FnOnce([BytePairs<'_>; N]) -> R,
) -> Result<R> {
    let sequences: Vec<&CellSequence> =
        pairs.iter().flat_map(|(keys, values)| std::iter::once(*keys).chain(*values)).collect();
    lend_slices(world.gpu(), &sequences, |slices| {
        let mut slices = slices.into_iter();
        f(pairs.map(|(_, values)| BytePairs {
            keys: slices.next().unwrap_or_default(),
            values: values.and_then(|_| slices.next()).unwrap_or_default(),
            size: values.map_or(0, |values| values.element().bytes),
        }))
    })
}
