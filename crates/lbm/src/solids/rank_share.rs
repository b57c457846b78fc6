//! Even division of work over the ranks.

use std::ops::Range;

use zippy::World;

/// This rank's share of the items `0..count`. Shares differ by at most one item.
pub(super) fn rank_share(world: &World, count: i64) -> Range<i64> {
    let (rank, size) = (world.rank() as i128, world.size() as i128);
    let start = |rank: i128| (i128::from(count) * rank / size) as i64;
    start(rank)..start(rank + 1)
}
