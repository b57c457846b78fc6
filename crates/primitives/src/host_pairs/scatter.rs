//! Stable distribution of pairs to buckets, with all threads of a rank.

use std::mem::take;

use zippy::device::HostThreads;

use super::chain::{Pairs, SliceChain};
use super::digits::{CommonBits, Key, KeyForm, Value};

/// Minimum number of pairs per thread for which another thread pays off.
const PAIRS_PER_THREAD: usize = 32 << 10;
/// Number of pairs buffered per bucket before a write: a cache line of short keys.
const BATCH_PAIRS: usize = 16;
const CACHE_LINE: usize = 64;

/// Returns the number of threads that process some pairs.
pub(super) fn threads_for(threads: HostThreads, pairs: usize) -> usize {
    threads.count().min(pairs / PAIRS_PER_THREAD).max(1)
}

/// Calls `f` for the block of keys of each thread.
pub(super) fn map_blocks<K: Key, R: Send>(
    threads: HostThreads,
    keys: SliceChain<'_, K>,
    f: impl Fn(SliceChain<'_, K>) -> R + Sync,
) -> Vec<R> {
    let (cells, count) = (keys.len(), threads_for(threads, keys.len()));
    threads.map(keys.cut(block_lengths(cells, count)).collect(), f)
}

/// Returns the lengths of the `count` blocks into which `cells` cells are cut.
pub(super) fn block_lengths(cells: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |block| (block + 1) * cells / count - block * cells / count)
}

/// Returns the bits in which the numbers of any keys differ.
pub(super) fn differing<K: Key>(threads: HostThreads, keys: SliceChain<'_, K>, form: KeyForm) -> u64 {
    let found = map_blocks(threads, keys, |block| {
        block.iter().flatten().fold(CommonBits::OF_NONE, |bits, key| bits.with(key.number(form)))
    });
    found.into_iter().fold(CommonBits::OF_NONE, CommonBits::join).differing()
}

/// Counts the keys in each bucket, for the block of each thread.
pub(super) fn count<K: Key>(
    threads: HostThreads,
    keys: SliceChain<'_, K>,
    buckets: usize,
    bucket: impl Fn(K) -> usize + Sync,
) -> Vec<Vec<usize>> {
    map_blocks(threads, keys, |block| {
        let mut counts = vec![0; buckets];
        block.iter().flatten().for_each(|key| counts[bucket(*key)] += 1);
        counts
    })
}

/// Distributes pairs to `buckets` consecutive buckets in `room` and returns the length of each.
/// Pairs of a bucket keep their order.
pub(super) fn scatter<K: Key, V: Value>(
    threads: HostThreads,
    mut pairs: Pairs<'_, K, V>,
    room: Pairs<'_, K, V>,
    buckets: usize,
    bucket: impl Fn(K) -> usize + Sync,
) -> Vec<usize> {
    let counts = count(threads, pairs.keys.reborrow(), buckets, &bucket);
    let blocks = counts.len();
    let lengths: Vec<usize> = (0..buckets).flat_map(|bucket| counts.iter().map(move |of| of[bucket])).collect();
    let mut targets: Vec<Vec<BucketTarget<'_, K, V>>> = (0..blocks).map(|_| Vec::with_capacity(buckets)).collect();
    for (number, part) in room.cut(&lengths).enumerate() {
        targets[number % blocks].push(BucketTarget::new(part));
    }
    let block_lengths: Vec<usize> = block_lengths(pairs.len(), blocks).collect();
    threads.map(pairs.cut(&block_lengths).zip(targets).collect(), |(block, mut targets)| {
        block.for_each_slice(|keys, values| {
            for (key, value) in keys.iter().zip(values) {
                targets[bucket(*key)].put(*key, *value);
            }
        });
        targets.iter_mut().for_each(BucketTarget::flush);
    });
    lengths.chunks_exact(blocks).map(|lengths| lengths.iter().sum()).collect()
}

/// Part of a bucket that one block of pairs writes, with its buffered pairs.
struct BucketTarget<'a, K, V> {
    keys: [K; BATCH_PAIRS],
    values: [V; BATCH_PAIRS],
    collected: usize,
    keys_room: BucketWriter<'a, K>,
    values_room: BucketWriter<'a, V>,
}

impl<'a, K: Key, V: Value> BucketTarget<'a, K, V> {
    fn new(room: Pairs<'a, K, V>) -> Self {
        Self {
            keys: [K::default(); BATCH_PAIRS],
            values: [V::default(); BATCH_PAIRS],
            collected: 0,
            keys_room: BucketWriter::new(room.keys),
            values_room: BucketWriter::new(room.values),
        }
    }

    #[inline(always)]
    fn put(&mut self, key: K, value: V) {
        // The remainder avoids two bounds checks.
        let at = self.collected % BATCH_PAIRS;
        (self.keys[at], self.values[at]) = (key, value);
        self.collected = at + 1;
        if self.collected == BATCH_PAIRS {
            self.keys_room.put_batch(&self.keys);
            self.values_room.put_batch(&self.values);
            self.collected = 0;
        }
    }

    fn flush(&mut self) {
        self.keys_room.put(&self.keys[..self.collected]);
        self.values_room.put(&self.values[..self.collected]);
    }
}

/// Memory of a bucket, written from its start to its end.
struct BucketWriter<'a, T> {
    rest: &'a mut [T],
    later: std::vec::IntoIter<&'a mut [T]>,
}

impl<'a, T: Copy> BucketWriter<'a, T> {
    fn new(room: SliceChain<'a, T>) -> Self {
        Self { rest: &mut [], later: room.into_slices() }
    }

    #[inline(always)]
    fn put_batch(&mut self, cells: &[T; BATCH_PAIRS]) {
        if self.rest.len() < BATCH_PAIRS {
            return self.put(cells);
        }
        let (head, tail) = take(&mut self.rest).split_at_mut(BATCH_PAIRS);
        head.copy_from_slice(cells);
        let bytes = size_of::<[T; BATCH_PAIRS]>();
        (bytes..2 * bytes).step_by(CACHE_LINE).for_each(|after| prefetch(tail, after));
        self.rest = tail;
    }

    /// Writes cells, possibly to several slices.
    fn put(&mut self, mut cells: &[T]) {
        while !cells.is_empty() {
            if self.rest.is_empty() {
                self.rest = self.later.next().expect("room for all cells that were counted");
            }
            let (now, later) = cells.split_at(cells.len().min(self.rest.len()));
            let (head, tail) = take(&mut self.rest).split_at_mut(now.len());
            head.copy_from_slice(now);
            (self.rest, cells) = (tail, later);
        }
    }
}

/// Hints to the processor that the cache line `after` bytes past the start of a slice is written
/// soon. A write that waits for its line delays all later writes.
#[inline(always)]
fn prefetch<T>(slice: &[T], after: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = slice.as_ptr().cast::<i8>().wrapping_add(after);
        // SAFETY: The hint accesses no memory; any address is allowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, after);
}
