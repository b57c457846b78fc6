//! [`RadixSort`]: sort of pairs in slices, with all threads of a rank.

use zippy::device::HostThreads;

use super::cached::{CACHED_DIGIT_BITS, CachedPairs};
use super::chain::Pairs;
use super::digits::{Digit, Key, KeyForm, Value};
use super::scatter;

/// Maximum size, in bytes, of pairs that are sorted from the lowest digit up: with their temporary
/// memory they fit in the cache of a core.
const MAX_CACHED_BYTES: usize = 768 << 10;
/// Maximum number of bits of the digit by which pairs are distributed to buckets.
const MAX_DIGIT_BITS: u32 = 11;
/// Number of buckets per thread, which balances the load.
const BUCKETS_PER_THREAD: usize = 8;

#[derive(Clone, Copy)]
pub(super) struct RadixSort {
    form: KeyForm,
    threads: HostThreads,
    /// Maximum number of pairs that fit in the cache of a core with their temporary memory.
    cached: usize,
}

impl RadixSort {
    pub(super) fn new<K, V>(form: KeyForm, threads: HostThreads) -> Self {
        Self { form, threads, cached: MAX_CACHED_BYTES / (size_of::<K>() + size_of::<V>()) }
    }

    /// Sorts pairs. The result is in place or, with `to_room`, at the same index in the temporary
    /// memory.
    pub(super) fn sort<K: Key, V: Value>(self, mut pairs: Pairs<'_, K, V>, mut room: Pairs<'_, K, V>, to_room: bool) {
        let cells = pairs.len();
        let threads = scatter::threads_for(self.threads, cells);
        if threads == 1 && cells <= self.cached {
            return self.sort_cached(pairs, room, to_room);
        }
        let differing = scatter::differing(self.threads, pairs.keys.reborrow(), self.form);
        if differing == 0 {
            if to_room {
                pairs.copy_to(room);
            }
            return;
        }
        let digit = self.highest_digit(differing, cells);
        let lengths = scatter::scatter(self.threads, pairs.reborrow(), room.reborrow(), digit.values(), |key: K| {
            digit.of(key.number(self.form))
        });
        let buckets = room.cut(&lengths).zip(pairs.cut(&lengths)).filter(|(bucket, _)| bucket.len() > 0);
        let (mut groups, mut grouped) = (vec![Vec::new()], 0);
        for (bucket, free) in buckets {
            // All threads share a bucket that contains a large part of the pairs.
            if threads == 1 || bucket.len() > cells / (2 * threads) {
                self.sort(bucket, free, !to_room);
                continue;
            }
            grouped += bucket.len();
            groups.last_mut().expect("one group at least").push((bucket, free));
            if grouped > cells / (BUCKETS_PER_THREAD * threads) {
                groups.push(Vec::new());
                grouped = 0;
            }
        }
        let alone = Self { threads: HostThreads::ONE, ..self };
        self.threads.map(groups, |group| {
            group.into_iter().for_each(|(bucket, free)| alone.sort(bucket, free, !to_room));
        });
    }

    /// Returns the highest digit of the differing bits. Its width makes the buckets few or small
    /// enough, and is larger if that saves a pass over the buckets.
    fn highest_digit(self, differing: u64, cells: usize) -> Digit {
        let end = u64::BITS - differing.leading_zeros();
        let used = end - differing.trailing_zeros();
        let widest = MAX_DIGIT_BITS.min(used);
        let buckets = (cells / self.cached).max(BUCKETS_PER_THREAD * scatter::threads_for(self.threads, cells));
        let narrowest = (buckets.ilog2() + 1).min(widest);
        let passes = |width: u32| (used - width).div_ceil(CACHED_DIGIT_BITS);
        let width = (narrowest..=widest).find(|width| passes(*width) == passes(widest)).unwrap_or(widest);
        Digit { shift: end - width, width }
    }

    /// Sorts pairs that fit in the cache; pairs in several slices are copied.
    fn sort_cached<K: Key, V: Value>(self, mut pairs: Pairs<'_, K, V>, mut room: Pairs<'_, K, V>, to_room: bool) {
        if let (Some(keys), Some(keys_room)) = (pairs.keys.single(), room.keys.single())
            && let (Some(values), Some(values_room)) = (pairs.values.single(), room.values.single())
        {
            return CachedPairs { keys: [keys, keys_room], values: [values, values_room] }.sort(self.form, to_room);
        }
        let cells = pairs.len();
        let (mut keys, mut values) = (vec![K::default(); 2 * cells], vec![V::default(); 2 * cells]);
        let (keys, values) = (keys.split_at_mut(cells), values.split_at_mut(cells));
        pairs.copy_to(Pairs::of_slices(keys.0, values.0));
        CachedPairs { keys: [keys.0, keys.1], values: [values.0, values.1] }.sort(self.form, false);
        Pairs::of_slices(keys.0, values.0).copy_to(if to_room { room.reborrow() } else { pairs.reborrow() });
    }
}
