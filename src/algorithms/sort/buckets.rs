//! Keys brought together by the rank that they go to, as far as they are told apart by bins of numbers; those of a bin among
//! which ranks meet are sorted.

use super::key::KeyOrder;
use super::lent::lend_pairs;
use super::splitters::{Splitter, splitters};
use super::{SortRoom, host, sort_in};
use crate::World;
use crate::algorithms::search::{BoundSide, find};
use crate::array::{Cells, lend_slices};
use crate::element::Element;
use crate::error::Result;

/// The keys between the least and the largest one are counted in so many bins.
const BINS: usize = 1 << 11;

/// Which numbers are in which bin.
#[derive(Debug, Clone, Copy)]
struct Binning {
    least: u64,
    most: u64,
    shift: u32,
}

impl Binning {
    /// For keys from the least to the largest one, on all ranks. Collective.
    fn new(world: &World, [least, most]: [u64; 2]) -> Result<Self> {
        let mut ends = [least, !most];
        world.inner().all_reduce(&mut ends, |end, other| *end = (*end).min(*other))?;
        let [least, most] = [ends[0], !ends[1]];
        let bits = u64::BITS - most.saturating_sub(least).leading_zeros();
        Ok(Self { least, most, shift: bits.saturating_sub(BINS.ilog2()) })
    }

    fn of(self, key: u64) -> usize {
        // The remainder says so to the compiler.
        ((key - self.least) >> self.shift) as usize % BINS
    }

    /// The least number of a bin; none where all numbers come before it.
    fn first(self, bin: usize) -> Option<u64> {
        let first = u128::from(self.least) + ((bin as u128) << self.shift);
        u64::try_from(first).ok().filter(|first| *first <= self.most)
    }
}

/// Keys that are to lie together, by their bins: all of one rank, or those of one bin among which places fall.
struct Bucket {
    /// The number of the first rank, of those that places are between.
    first: usize,
    /// The places behind the first keys of the bin, where they fall among them.
    behind: Vec<u64>,
    /// Of the whole vector.
    cells: u64,
    own: u64,
}

/// Keys, and values, by the ranks that they go to.
pub struct Dealt {
    /// Whether they are in the room now.
    pub in_room: bool,
    /// How many keys go to each of the ranks that places are between, one after the other.
    pub runs: Vec<u64>,
}

/// Brings keys together that go to the same rank: those of the whole vector that come before the first place to the first one,
/// and so on. The order of equal keys is kept. Collective.
///
/// On a software adapter the host counts keys in bins and deals them out to the room. Kernels sort
/// them where they are.
pub fn deal(
    world: &World,
    order: KeyOrder,
    (keys, values): (&Cells, Option<&Cells>),
    room: &SortRoom,
    places: &[u64],
) -> Result<Dealt> {
    let in_room = world.gpu().is_host();
    if !in_room {
        sort_in(world, order, keys, values, Some(room))?;
    }
    let bins = Binning::new(world, if in_room { extremes(world, order, keys)? } else { ends(order, keys)? })?;
    let own = if in_room { counted(world, order, keys, bins)? } else { found(world, order, keys, bins)? };
    let mut all = own.clone();
    world.inner().all_reduce(&mut all, |sum, more| *sum += more)?;
    let (bucket_of, buckets) = buckets(&own, &all, places);
    let beside = SortRoom { keys: keys.clone(), values: values.cloned() };
    if in_room {
        let bucket = |key: u64| usize::from(bucket_of[bins.of(key)]);
        let (threads, room) = (world.gpu().host_threads(), (&room.keys, room.values.as_ref()));
        lend_pairs(world, [(keys, values), room], |[pairs, room]| {
            host::deal(threads, order, pairs, room, buckets.len(), bucket);
        })?;
    }
    let (dealt, free) = if in_room { (room, Some(&beside)) } else { (&beside, None) };
    let runs = runs(world, order, dealt, free, &buckets, places.len() + 1)?;
    Ok(Dealt { in_room, runs })
}

/// The least key and the largest, as numbers.
fn extremes(world: &World, order: KeyOrder, keys: &Cells) -> Result<[u64; 2]> {
    let device = world.gpu();
    lend_slices(device, &[keys], |mut slices| host::extremes(device.host_threads(), order, slices.swap_remove(0)))
}

/// The same of sorted keys.
fn ends(order: KeyOrder, keys: &Cells) -> Result<[u64; 2]> {
    let mut found = [u64::MAX, 0];
    if keys.len() > 0 {
        let mut words = vec![0_u32; order.words];
        for (end, place) in found.iter_mut().zip([0, keys.len() - 1]) {
            keys.read(place..place + 1, bytemuck::cast_slice_mut(&mut words))?;
            *end = order.number(&words);
        }
    }
    Ok(found)
}

/// How many keys are in each bin.
fn counted(world: &World, order: KeyOrder, keys: &Cells, bins: Binning) -> Result<Vec<u64>> {
    let device = world.gpu();
    lend_slices(device, &[keys], |mut slices| {
        host::count_bins(device.host_threads(), order, slices.swap_remove(0), BINS, |key| bins.of(key))
    })
}

/// The same of sorted keys.
fn found(world: &World, order: KeyOrder, keys: &Cells, bins: Binning) -> Result<Vec<u64>> {
    let firsts: Vec<u64> = (0..BINS).map_while(|bin| bins.first(bin)).collect();
    let needles: Vec<u32> = firsts.iter().flat_map(|&first| order.key(first)).collect();
    let scratch = |name, element| Cells::scratch(&world.home(), name, element, firsts.len() as u64);
    let (cells, bounds) = (scratch("first keys of bins", keys.element())?, scratch("bounds of bins", &u32::INFO)?);
    cells.write(0..cells.len(), bytemuck::cast_slice(&needles))?;
    find(world, order, keys, &cells, &bounds, BoundSide::Lower, true)?;
    let mut before = vec![keys.len() as u32; BINS + 1];
    bounds.read(0..bounds.len(), bytemuck::cast_slice_mut(&mut before[..firsts.len()]))?;
    Ok(before.windows(2).map(|pair| u64::from(pair[1] - pair[0])).collect())
}

/// The bucket of each bin, of which there are no more than bins, in the order of keys.
fn buckets(own: &[u64], all: &[u64], places: &[u64]) -> (Vec<u16>, Vec<Bucket>) {
    let (mut bins, mut buckets) = (Vec::with_capacity(BINS), Vec::<Bucket>::new());
    let mut start = 0;
    for (&own, &all) in own.iter().zip(all) {
        let end = start + all;
        let first = places.partition_point(|&place| place <= start);
        let behind: Vec<u64> =
            places[first..].iter().take_while(|&&place| place < end).map(|place| place - start).collect();
        match buckets.last_mut().filter(|last| last.first == first && last.behind.is_empty() && behind.is_empty()) {
            Some(last) => {
                last.cells += all;
                last.own += own;
            }
            None => buckets.push(Bucket { first, behind, cells: all, own }),
        }
        bins.push((buckets.len() - 1) as u16);
        start = end;
    }
    (bins, buckets)
}

/// How many of the dealt keys go to each rank: those of a bin among which places fall are sorted to tell, in memory that is
/// free, unless all are. Collective.
fn runs(
    world: &World,
    order: KeyOrder,
    SortRoom { keys, values }: &SortRoom,
    free: Option<&SortRoom>,
    buckets: &[Bucket],
    ranks: usize,
) -> Result<Vec<u64>> {
    let (mut among, mut places, mut before, mut start) = (Cells::none(keys.element()), Vec::new(), 0, 0);
    for bucket in buckets {
        let own = start..start + bucket.own;
        start = own.end;
        if bucket.behind.is_empty() {
            continue;
        }
        let cells = keys.only(own.clone());
        if free.is_some() {
            sort_in(world, order, &cells, values.as_ref().map(|values| values.only(own)).as_ref(), free)?;
        }
        among.append(&cells);
        places.extend(bucket.behind.iter().map(|behind| before + behind));
        before += bucket.cells;
    }
    let mut splitters = splitters(world.inner(), order, &among, &places)?.into_iter();
    let (mut runs, mut start) = (vec![0; ranks], 0);
    for bucket in buckets {
        let cells = keys.only(start..start + bucket.own);
        start += bucket.own;
        let (mut last, mut rank) = (0, bucket.first);
        for Splitter { key, equal } in splitters.by_ref().take(bucket.behind.len()) {
            let end = order.before(&cells, |other| other < key)? + equal;
            runs[rank] += end - last;
            (last, rank) = (end, rank + 1);
        }
        runs[rank] += bucket.own - last;
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::buckets;

    /// The first rank of a bucket, the places in it, and its cells of both ranks.
    type FoundBucket = (usize, Vec<u64>, u64);

    fn found(counts: &[[u64; 2]], places: &[u64]) -> (Vec<u16>, Vec<FoundBucket>) {
        let all: Vec<u64> = counts.iter().map(|both| both.iter().sum()).collect();
        let own: Vec<u64> = counts.iter().map(|both| both[0]).collect();
        let (bins, buckets) = buckets(&own, &all, places);
        for (number, bucket) in buckets.iter().enumerate() {
            let in_it = |of: &[u64]| {
                bins.iter().zip(of).filter(|(bin, _)| usize::from(**bin) == number).map(|(_, n)| n).sum::<u64>()
            };
            assert_eq!((bucket.cells, bucket.own), (in_it(&all), in_it(&own)));
        }
        (bins, buckets.into_iter().map(|bucket| (bucket.first, bucket.behind, bucket.cells)).collect())
    }

    #[test]
    fn places_on_borders_and_within_bins() {
        // On a border no bin is cut.
        let (bins, buckets) = found(&[[2, 2], [1, 3]], &[4]);
        assert_eq!((bins, buckets), (vec![0, 1], vec![(0, vec![], 4), (1, vec![], 4)]));
        // Within one, several of them, also equal ones, and behind empty bins.
        let (bins, buckets) = found(&[[0, 0], [3, 7], [0, 0], [1, 1], [0, 2]], &[0, 3, 3, 9, 12, 14]);
        assert_eq!(bins, [0, 1, 2, 2, 3]);
        assert_eq!(buckets, [(1, vec![], 0), (1, vec![3, 3, 9], 10), (4, vec![], 2), (5, vec![], 2)]);
        // All in the last bin.
        let (bins, buckets) = found(&[[0, 0], [0, 0], [4, 5]], &[1, 9]);
        assert_eq!((bins, buckets), (vec![0, 0, 1], vec![(0, vec![], 0), (0, vec![1], 9)]));
    }
}
