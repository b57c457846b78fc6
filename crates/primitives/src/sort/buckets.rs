//! Distribution of keys by destination rank. Keys are counted in bins; only bins that contain the
//! boundary of two ranks are sorted.

use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld, lend_slices};
use zippy::element::Element;
use zippy::error::Result;

use super::{GroupedKeys, SortRoom, sort_in};
use crate::host_pairs::{self, lend_pairs};
use crate::search::{BoundSide, find};
use crate::sort_key::KeyOrder;
use crate::splitters::{Splitter, splitters};

/// Number of bins between the smallest and the largest key.
const BIN_COUNT: usize = 1 << 11;

/// Assignment of keys, as numbers, to bins.
#[derive(Debug, Clone, Copy)]
struct Binning {
    least: u64,
    most: u64,
    shift: u32,
}

impl Binning {
    /// Creates bins for keys from the smallest to the largest one of all ranks. Collective.
    fn new(world: &World, [least, most]: [u64; 2]) -> Result<Self> {
        let mut ends = [least, !most];
        world.inner_group().all_reduce(&mut ends, |end, other| *end = (*end).min(*other))?;
        let [least, most] = [ends[0], !ends[1]];
        let bits = u64::BITS - most.saturating_sub(least).leading_zeros();
        Ok(Self { least, most, shift: bits.saturating_sub(BIN_COUNT.ilog2()) })
    }

    fn of(self, key: u64) -> usize {
        // The remainder shows the compiler that the index is in bounds.
        ((key - self.least) >> self.shift) as usize % BIN_COUNT
    }

    /// Returns the smallest number of a bin; `None` if neither the bin nor a later one has numbers.
    fn first(self, bin: usize) -> Option<u64> {
        let first = u128::from(self.least) + ((bin as u128) << self.shift);
        u64::try_from(first).ok().filter(|first| *first <= self.most)
    }
}

/// A run of bins that goes to one rank, or one bin that a rank boundary splits.
struct Bucket {
    /// Index of the first destination rank of the bucket.
    first: usize,
    /// Boundaries of ranks in a split bin, counted in keys from the start of the bin.
    boundaries: Vec<u64>,
    /// Number of keys of the whole vector in the bucket.
    cells: u64,
    local: u64,
}

/// Counts keys in bins, and groups them by destination rank in the temporary memory `room`.
/// Collective.
pub(crate) fn group_on_host(
    world: &World,
    order: KeyOrder,
    (keys, values): (&CellSequence, Option<&CellSequence>),
    room: &SortRoom,
    boundaries: &[u64],
) -> Result<GroupedKeys> {
    let bins = Binning::new(world, extremes(world, order, keys)?)?;
    let local = count_in_bins(world, order, keys, bins)?;
    let (bucket_of, buckets) = common_buckets(world, &local, boundaries)?;
    let bucket = |key: u64| usize::from(bucket_of[bins.of(key)]);
    let threads = world.gpu().host_threads();
    lend_pairs(world, [(keys, values), (&room.keys, room.values.as_ref())], |[pairs, room]| {
        host_pairs::distribute(threads, order, pairs, room, buckets.len(), bucket);
    })?;
    let free = SortRoom { keys: keys.clone(), values: values.cloned() };
    let runs = count_keys_per_rank(world, order, room, Some(&free), &buckets, boundaries.len() + 1)?;
    Ok(GroupedKeys { in_room: true, runs })
}

/// Groups keys by destination rank by sorting them in place. Collective.
pub(crate) fn group_by_kernels(
    world: &World,
    order: KeyOrder,
    (keys, values): (&CellSequence, Option<&CellSequence>),
    room: &SortRoom,
    boundaries: &[u64],
) -> Result<GroupedKeys> {
    sort_in(world, order, keys, values, Some(room))?;
    let bins = Binning::new(world, extremes_of_sorted_keys(order, keys)?)?;
    let local = count_sorted_in_bins(world, order, keys, bins)?;
    let (_, buckets) = common_buckets(world, &local, boundaries)?;
    let sorted = SortRoom { keys: keys.clone(), values: values.cloned() };
    let runs = count_keys_per_rank(world, order, &sorted, None, &buckets, boundaries.len() + 1)?;
    Ok(GroupedKeys { in_room: false, runs })
}

/// Computes the [`buckets`] of the keys of all ranks. Collective.
fn common_buckets(world: &World, local: &[u64], boundaries: &[u64]) -> Result<(Vec<u16>, Vec<Bucket>)> {
    let mut all = local.to_vec();
    world.inner_group().all_reduce(&mut all, |sum, more| *sum += more)?;
    Ok(buckets(local, &all, boundaries))
}

/// Returns the smallest and the largest key as numbers.
fn extremes(world: &World, order: KeyOrder, keys: &CellSequence) -> Result<[u64; 2]> {
    let device = world.gpu();
    lend_slices(device, &[keys], |mut slices| host_pairs::extremes(device.host_threads(), order, slices.swap_remove(0)))
}

/// Returns the smallest and the largest of sorted keys as numbers.
fn extremes_of_sorted_keys(order: KeyOrder, keys: &CellSequence) -> Result<[u64; 2]> {
    let mut found = [u64::MAX, 0];
    if !keys.is_empty() {
        let mut words = vec![0_u32; order.words];
        for (end, position) in found.iter_mut().zip([0, keys.len() - 1]) {
            keys.read(position..position + 1, bytemuck::cast_slice_mut(&mut words))?;
            *end = order.number(&words);
        }
    }
    Ok(found)
}

fn count_in_bins(world: &World, order: KeyOrder, keys: &CellSequence, bins: Binning) -> Result<Vec<u64>> {
    let device = world.gpu();
    lend_slices(device, &[keys], |mut slices| {
        host_pairs::count_bins(device.host_threads(), order, slices.swap_remove(0), BIN_COUNT, |key| bins.of(key))
    })
}

fn count_sorted_in_bins(world: &World, order: KeyOrder, keys: &CellSequence, bins: Binning) -> Result<Vec<u64>> {
    let firsts: Vec<u64> = (0..BIN_COUNT).map_while(|bin| bins.first(bin)).collect();
    let needles: Vec<u32> = firsts.iter().flat_map(|&first| order.key(first)).collect();
    let scratch = |name, element| world.scratch_cells(name, element, firsts.len() as u64);
    let (cells, bounds) = (scratch("first keys of bins", keys.element())?, scratch("bounds of bins", &u32::INFO)?);
    cells.write(0..cells.len(), bytemuck::cast_slice(&needles))?;
    find(world, order, keys, &cells, &bounds, BoundSide::Lower, true)?;
    let mut before = vec![keys.len() as u32; BIN_COUNT + 1];
    bounds.read(0..bounds.len(), bytemuck::cast_slice_mut(&mut before[..firsts.len()]))?;
    Ok(before.windows(2).map(|pair| u64::from(pair[1] - pair[0])).collect())
}

/// Returns the bucket of each bin, and the buckets in ascending order of keys. There are at most as
/// many buckets as bins.
fn buckets(local: &[u64], all: &[u64], boundaries: &[u64]) -> (Vec<u16>, Vec<Bucket>) {
    let (mut bins, mut buckets) = (Vec::with_capacity(BIN_COUNT), Vec::<Bucket>::new());
    let mut start = 0;
    for (&local, &all) in local.iter().zip(all) {
        let end = start + all;
        let first = boundaries.partition_point(|&boundary| boundary <= start);
        let inside: Vec<u64> = boundaries[first..]
            .iter()
            .take_while(|&&boundary| boundary < end)
            .map(|boundary| boundary - start)
            .collect();
        match buckets.last_mut().filter(|last| last.first == first && last.boundaries.is_empty() && inside.is_empty()) {
            Some(last) => {
                last.cells += all;
                last.local += local;
            }
            None => buckets.push(Bucket { first, boundaries: inside, cells: all, local }),
        }
        bins.push((buckets.len() - 1) as u16);
        start = end;
    }
    (bins, buckets)
}

/// Returns the number of keys for each destination rank. Bins that a boundary splits are sorted for
/// this, in free memory, unless all keys are sorted. Collective.
fn count_keys_per_rank(
    world: &World,
    order: KeyOrder,
    SortRoom { keys, values }: &SortRoom,
    free: Option<&SortRoom>,
    buckets: &[Bucket],
    ranks: usize,
) -> Result<Vec<u64>> {
    let (mut split_keys, mut boundaries, mut before, mut start) =
        (CellSequence::empty(keys.element()), Vec::new(), 0, 0);
    for bucket in buckets {
        let local = start..start + bucket.local;
        start = local.end;
        if bucket.boundaries.is_empty() {
            continue;
        }
        let cells = keys.only(local.clone());
        if free.is_some() {
            sort_in(world, order, &cells, values.as_ref().map(|values| values.only(local)).as_ref(), free)?;
        }
        split_keys.append(&cells);
        boundaries.extend(bucket.boundaries.iter().map(|boundary| before + boundary));
        before += bucket.cells;
    }
    let mut splitters = splitters(world.inner_group(), order, &split_keys, &boundaries)?.into_iter();
    let (mut runs, mut start) = (vec![0; ranks], 0);
    for bucket in buckets {
        let cells = keys.only(start..start + bucket.local);
        start += bucket.local;
        let (mut last, mut rank) = (0, bucket.first);
        for Splitter { key, equal } in splitters.by_ref().take(bucket.boundaries.len()) {
            let end = order.before(&cells, |other| other < key)? + equal;
            runs[rank] += end - last;
            (last, rank) = (end, rank + 1);
        }
        runs[rank] += bucket.local - last;
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::buckets;

    /// First rank of a bucket, boundaries in the bucket, and number of cells of both ranks.
    type BucketParts = (usize, Vec<u64>, u64);

    fn sorted_into_buckets(counts: &[[u64; 2]], boundaries: &[u64]) -> (Vec<u16>, Vec<BucketParts>) {
        let all: Vec<u64> = counts.iter().map(|both| both.iter().sum()).collect();
        let local: Vec<u64> = counts.iter().map(|both| both[0]).collect();
        let (bins, buckets) = buckets(&local, &all, boundaries);
        for (number, bucket) in buckets.iter().enumerate() {
            let in_it = |of: &[u64]| {
                bins.iter().zip(of).filter(|(bin, _)| usize::from(**bin) == number).map(|(_, n)| n).sum::<u64>()
            };
            assert_eq!((bucket.cells, bucket.local), (in_it(&all), in_it(&local)));
        }
        (bins, buckets.into_iter().map(|bucket| (bucket.first, bucket.boundaries, bucket.cells)).collect())
    }

    #[test]
    fn boundaries_between_and_inside_bins_make_buckets() {
        // A boundary between bins splits no bin.
        let (bins, buckets) = sorted_into_buckets(&[[2, 2], [1, 3]], &[4]);
        assert_eq!((bins, buckets), (vec![0, 1], vec![(0, vec![], 4), (1, vec![], 4)]));
        // Several boundaries in one bin, also equal ones, and after empty bins.
        let (bins, buckets) = sorted_into_buckets(&[[0, 0], [3, 7], [0, 0], [1, 1], [0, 2]], &[0, 3, 3, 9, 12, 14]);
        assert_eq!(bins, [0, 1, 2, 2, 3]);
        assert_eq!(buckets, [(1, vec![], 0), (1, vec![3, 3, 9], 10), (4, vec![], 2), (5, vec![], 2)]);
        // All keys in the last bin.
        let (bins, buckets) = sorted_into_buckets(&[[0, 0], [0, 0], [4, 5]], &[1, 9]);
        assert_eq!((bins, buckets), (vec![0, 0, 1], vec![(0, vec![], 0), (0, vec![1], 9)]));
    }
}
