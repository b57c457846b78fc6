//! Keys brought together by the rank that they go to, as far as their leading bits tell; the few that these do not tell of are
//! sorted.

use super::key::KeyOrder;
use super::splitters::{BYTES, Splitter, splitters};
use super::{Room, host, lent, sort};
use crate::World;
use crate::algorithms::search::{BoundSide, check_count, find};
use crate::array::{Cells, stretches};
use crate::element::Element;
use crate::error::Result;

/// Leading bits that keys are counted by.
const BITS: u32 = 11;
const VALUES: usize = 1 << BITS;

/// Keys that are to lie together, by their leading bits: all of one rank, or those of one bin among which places fall.
struct Bucket {
    /// The number of the first rank, of those that places are between.
    first: usize,
    /// The places behind the first keys of the bin, where they fall among them.
    behind: Vec<u64>,
    /// Of the whole vector.
    cells: u64,
    own: u64,
}

/// Keys, and values, in buckets.
pub struct Dealt {
    /// Where they are now, if that is another place than before.
    pub moved: Option<Room>,
    /// How many keys go to each of the ranks that places are between, one after the other.
    pub runs: Vec<u64>,
}

/// Brings keys together that go to the same rank: those of the whole vector that come before the first place to the first one,
/// and so on. The order of equal keys is kept. Collective.
///
/// The host counts keys by their leading bits and deals them out to room for all of them. Kernels, and the host where that
/// room is more than one buffer, sort them where they are.
pub fn deal(world: &World, order: KeyOrder, keys: &Cells, values: Option<&Cells>, places: &[u64]) -> Result<Dealt> {
    // The host's room is one buffer.
    let fits = |cells: &Cells| cells.len() * cells.element().bytes as u64 <= world.gpu().limits().buffer_bytes;
    let by_host = world.gpu().is_host() && std::iter::once(keys).chain(values).all(fits);
    if !by_host {
        sort(world, order, keys, values)?;
    }
    let own = if by_host { counted(order, keys)? } else { found(world, order, keys)? };
    let mut all = own.clone();
    world.inner().all_reduce(&mut all, |sum, more| *sum += more)?;
    let (bins, buckets) = buckets(&own, &all, places);
    let moved = by_host.then(|| dealt(world, order, keys, values, &bins, &buckets)).transpose()?;
    let dealt = moved.as_ref().map_or((keys, values), |moved| (&moved.keys, moved.values.as_ref()));
    let runs = runs(world, order, dealt, &buckets, places.len() + 1, !by_host)?;
    Ok(Dealt { moved, runs })
}

/// How many keys have each value of the leading bits.
fn counted(order: KeyOrder, keys: &Cells) -> Result<Vec<u64>> {
    let (mut counts, mut words) = (vec![0_u64; VALUES], Vec::new());
    for slice in keys.slices(BYTES, 1) {
        words.resize((slice.end - slice.start) as usize * order.words, 0_u32);
        keys.read(slice, bytemuck::cast_slice_mut(&mut words))?;
        for key in words.chunks_exact(order.words) {
            counts[(order.ordered(key[order.top]) >> (32 - BITS)) as usize] += 1;
        }
    }
    Ok(counts)
}

/// The same of sorted keys.
fn found(world: &World, order: KeyOrder, keys: &Cells) -> Result<Vec<u64>> {
    check_count(keys.len(), || keys.label())?;
    let mut needles = vec![0_u32; VALUES * order.words];
    for (value, needle) in needles.chunks_exact_mut(order.words).enumerate() {
        needle[order.top] = order.restored((value as u32) << (32 - BITS));
    }
    let scratch = |name, element| Cells::scratch(&world.home(), name, element, VALUES as u64);
    let (cells, bounds) = (scratch("first keys of bins", keys.element())?, scratch("bounds of bins", &u32::INFO)?);
    cells.write(0..VALUES as u64, bytemuck::cast_slice(&needles))?;
    find(world, order, keys, &cells, &bounds, BoundSide::Lower, true)?;
    let mut before = vec![0_u32; VALUES + 1];
    bounds.read(0..VALUES as u64, bytemuck::cast_slice_mut(&mut before[..VALUES]))?;
    before[VALUES] = keys.len() as u32;
    Ok(before.windows(2).map(|pair| u64::from(pair[1] - pair[0])).collect())
}

/// The bucket of each bin, in the order of keys.
fn buckets(own: &[u64], all: &[u64], places: &[u64]) -> (Vec<usize>, Vec<Bucket>) {
    let (mut bins, mut buckets) = (Vec::with_capacity(VALUES), Vec::<Bucket>::new());
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
        bins.push(buckets.len() - 1);
        start = end;
    }
    (bins, buckets)
}

/// Deals out the keys by the host.
fn dealt(
    world: &World,
    order: KeyOrder,
    keys: &Cells,
    values: Option<&Cells>,
    bins: &[usize],
    buckets: &[Bucket],
) -> Result<Room> {
    let room = Room::new(world, keys, values)?;
    let size = values.map_or(0, |values| values.element().bytes);
    let mut end = 0;
    let mut next: Vec<usize> = (buckets.iter())
        .map(|bucket| {
            end += bucket.own as usize;
            end - bucket.own as usize
        })
        .collect();
    let bucket = |word: u32| bins[(word >> (32 - BITS)) as usize];
    let all: Vec<&Cells> = std::iter::once(keys).chain(values).collect();
    for piece in stretches(&all) {
        let cells = piece.first..piece.first + piece.cells();
        let (keys, values) = (keys.only(cells.clone()), values.map(|values| values.only(cells)));
        let mut done = Ok(());
        lent(world, &room.keys, room.values.as_ref(), |keys_room, values_room| {
            done = lent(world, &keys, values.as_ref(), |keys, values| {
                host::deal(order, [keys, keys_room], [values, values_room], size, bucket, &mut next);
            });
        })?;
        done?;
    }
    Ok(room)
}

/// How many of the dealt keys go to each rank: those of a bin among which places fall are sorted to tell. Collective.
fn runs(
    world: &World,
    order: KeyOrder,
    (keys, values): (&Cells, Option<&Cells>),
    buckets: &[Bucket],
    ranks: usize,
    are_sorted: bool,
) -> Result<Vec<u64>> {
    let (mut among, mut places, mut before, mut start) = (Cells::none(keys.element()), Vec::new(), 0, 0);
    for bucket in buckets {
        let own = start..start + bucket.own;
        start = own.end;
        if bucket.behind.is_empty() {
            continue;
        }
        let cells = keys.only(own.clone());
        if !are_sorted {
            sort(world, order, &cells, values.map(|values| values.only(own)).as_ref())?;
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
