//! Operations on pairs whose types are known at run time only, compiled for common types.

use zippy::device::HostThreads;

use super::chain::{Pairs, SliceChain};
use super::digits::{Key, KeyForm, Value};
use super::radix::RadixSort;
use super::scatter::{block_lengths, count, map_blocks, scatter, threads_for};
use crate::sort_key::KeyOrder;

/// Bytes of a sequence of cells in one or more slices.
pub(super) type ByteSlices<'a> = Vec<&'a mut [u8]>;

/// Sort keys, and optional values of `size` bytes each, as bytes.
pub(crate) struct BytePairs<'a> {
    pub keys: ByteSlices<'a>,
    pub values: ByteSlices<'a>,
    pub size: usize,
}

/// Sorts pairs of keys and values in place. The temporary memory `room` has the same length.
pub(crate) fn sort(threads: HostThreads, order: KeyOrder, pairs: BytePairs<'_>, room: BytePairs<'_>) {
    pairs.with_types(order.words, room, &SortWork { threads, form: KeyForm::new(order) });
}

/// Distributes pairs to `buckets` consecutive buckets in the temporary memory `room`; `bucket`
/// returns the bucket of a key as a number. Pairs of a bucket keep their order.
pub(crate) fn distribute(
    threads: HostThreads,
    order: KeyOrder,
    pairs: BytePairs<'_>,
    room: BytePairs<'_>,
    buckets: usize,
    bucket: impl Fn(u64) -> usize + Sync,
) {
    pairs.with_types(order.words, room, &DistributeWork { threads, form: KeyForm::new(order), buckets, bucket });
}

/// Returns the smallest and the largest key as numbers; `[u64::MAX, 0]` without keys.
pub(crate) fn extremes(threads: HostThreads, order: KeyOrder, keys: ByteSlices<'_>) -> [u64; 2] {
    fn extremes_of_words<K: Key>(threads: HostThreads, form: KeyForm, keys: SliceChain<'_, K>) -> [u64; 2] {
        let join = |[least, most]: [u64; 2], [other_least, other_most]: [u64; 2]| {
            [least.min(other_least), most.max(other_most)]
        };
        let found = map_blocks(threads, keys, |block| {
            let numbers = block.iter().flatten().map(|key| key.number(form));
            numbers.fold([u64::MAX, 0], |found, number| join(found, [number; 2]))
        });
        found.into_iter().fold([u64::MAX, 0], join)
    }
    let form = KeyForm::new(order);
    match order.words {
        1 => extremes_of_words::<[u32; 1]>(threads, form, cast_slices(keys)),
        _ => extremes_of_words::<[u32; 2]>(threads, form, cast_slices(keys)),
    }
}

/// Counts the keys in each of `bins` bins; `bin` returns the bin of a key as a number.
pub(crate) fn count_bins(
    threads: HostThreads,
    order: KeyOrder,
    keys: ByteSlices<'_>,
    bins: usize,
    bin: impl Fn(u64) -> usize + Sync,
) -> Vec<u64> {
    let form = KeyForm::new(order);
    let counts = match order.words {
        1 => count(threads, cast_slices(keys), bins, |key: [u32; 1]| bin(key.number(form))),
        _ => count(threads, cast_slices(keys), bins, |key: [u32; 2]| bin(key.number(form))),
    };
    (0..bins).map(|bin| counts.iter().map(|counts| counts[bin] as u64).sum()).collect()
}

/// Operation on pairs, generic over the types of keys and values.
trait PairWork {
    /// True if the result of the operation is in the temporary memory.
    const ENDS_IN_ROOM: bool;

    fn threads(&self) -> HostThreads;

    fn run<K: Key, V: Value>(&self, pairs: Pairs<'_, K, V>, room: Pairs<'_, K, V>);
}

struct SortWork {
    threads: HostThreads,
    form: KeyForm,
}

impl PairWork for SortWork {
    const ENDS_IN_ROOM: bool = false;

    fn threads(&self) -> HostThreads {
        self.threads
    }

    fn run<K: Key, V: Value>(&self, pairs: Pairs<'_, K, V>, room: Pairs<'_, K, V>) {
        RadixSort::new::<K, V>(self.form, self.threads).sort(pairs, room, false);
    }
}

struct DistributeWork<F> {
    threads: HostThreads,
    form: KeyForm,
    buckets: usize,
    bucket: F,
}

impl<F: Fn(u64) -> usize + Sync> PairWork for DistributeWork<F> {
    const ENDS_IN_ROOM: bool = true;

    fn threads(&self) -> HostThreads {
        self.threads
    }

    fn run<K: Key, V: Value>(&self, pairs: Pairs<'_, K, V>, room: Pairs<'_, K, V>) {
        scatter(self.threads, pairs, room, self.buckets, |key: K| (self.bucket)(key.number(self.form)));
    }
}

fn cast_slices<T: bytemuck::Pod>(slices: ByteSlices<'_>) -> SliceChain<'_, T> {
    SliceChain::new(slices.into_iter().map(bytemuck::cast_slice_mut).collect())
}

impl BytePairs<'_> {
    fn with_types(self, words: usize, room: BytePairs<'_>, work: &impl PairWork) {
        match words {
            1 => self.with_keys::<[u32; 1], _>(room, work),
            _ => self.with_keys::<[u32; 2], _>(room, work),
        }
    }

    fn with_keys<K: Key, W: PairWork>(self, room: BytePairs<'_>, work: &W) {
        match self.size {
            0 => {
                let keys = [self.keys, room.keys].map(cast_slices::<K>);
                let mut none = vec![(); keys[0].len()];
                let mut none_of_room = none.clone();
                run(work, keys, [&mut none, &mut none_of_room].map(|none| SliceChain::new(vec![&mut none[..]])));
            }
            1 => self.with_values::<K, u8>(room, work),
            2 => self.with_values::<K, [u8; 2]>(room, work),
            4 => self.with_values::<K, u32>(room, work),
            8 => self.with_values::<K, [u32; 2]>(room, work),
            12 => self.with_values::<K, [u32; 3]>(room, work),
            16 => self.with_values::<K, [u32; 4]>(room, work),
            _ => self.by_index::<K, W>(room, work),
        }
    }

    fn with_values<K: Key, V: Value>(self, room: BytePairs<'_>, work: &impl PairWork) {
        run(work, [self.keys, room.keys].map(cast_slices::<K>), [self.values, room.values].map(cast_slices::<V>));
    }

    /// Runs the work on pairs of key and index in place of the wide values, then moves each value
    /// once.
    fn by_index<K: Key, W: PairWork>(self, room: BytePairs<'_>, work: &W) {
        let keys = [self.keys, room.keys].map(cast_slices::<K>);
        let cells = keys[0].len();
        let mut indices: Vec<u64> = (0..cells as u64).collect();
        let mut indices_of_room = vec![0_u64; cells];
        run(work, keys, [&mut indices, &mut indices_of_room].map(|all| SliceChain::new(vec![&mut all[..]])));
        let order = if W::ENDS_IN_ROOM { indices_of_room } else { indices };
        let [values, mut values_room] = [self.values, room.values].map(SliceChain::new);
        gather_by_index(work.threads(), &values, self.size, &order, values_room.reborrow());
        if !W::ENDS_IN_ROOM {
            values_room.copy_to(values);
        }
    }
}

fn run<K: Key, V: Value>(work: &impl PairWork, keys: [SliceChain<'_, K>; 2], values: [SliceChain<'_, V>; 2]) {
    let ([keys, keys_room], [values, values_room]) = (keys, values);
    work.run(Pairs { keys, values }, Pairs { keys: keys_room, values: values_room });
}

/// Copies the cells with the given indices, of `size` bytes each, to consecutive cells.
fn gather_by_index(
    threads: HostThreads,
    from: &SliceChain<'_, u8>,
    size: usize,
    indices: &[u64],
    to: SliceChain<'_, u8>,
) {
    let mut begin = 0;
    let slices: Vec<(usize, &[u8])> = from
        .iter()
        .map(|slice| {
            begin += slice.len();
            (begin - slice.len(), slice)
        })
        .collect();
    let lengths: Vec<usize> = block_lengths(indices.len(), threads_for(threads, indices.len())).collect();
    let mut rest = indices;
    let indices = lengths.iter().map(|length| {
        let (head, tail) = rest.split_at(*length);
        rest = tail;
        head
    });
    let blocks = indices.zip(to.cut(lengths.iter().map(|length| length * size))).collect();
    threads.map(blocks, |(indices, block): (&[u64], SliceChain<'_, u8>)| {
        let targets = block.into_slices().flat_map(|slice| slice.chunks_exact_mut(size));
        for (index, target) in indices.iter().zip(targets) {
            let byte = *index as usize * size;
            let (begin, slice) = slices[slices.partition_point(|(begin, _)| *begin <= byte) - 1];
            target.copy_from_slice(&slice[byte - begin..][..size]);
        }
    });
}
