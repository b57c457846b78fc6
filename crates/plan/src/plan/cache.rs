//! [`PlanCache`]: cache of plans for repeated operations, and [`WeightedCache`]: cache of any
//! values with a maximum total weight.

use std::hash::{BuildHasher, Hash, RandomState};
use std::num::NonZeroUsize;

use lru::LruCache;

use super::{CopiesSpec, CopySpec, GhostSpec, Pair};
use crate::locate::Placement;
use crate::region::Region;

/// Key of a plan: all inputs of the plan except the rank.
///
/// Placements are compared by pointer first, then by content, so that equal arrays share plans.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanKey {
    placements: Vec<Placement>,
    operation: PlannedOperation,
    extra: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum PlannedOperation {
    Copy { src: Region, dst: Region, aliased: bool, permutation: Option<Vec<usize>> },
    Copies { data: Vec<usize>, pairs: Vec<Pair> },
    Ghosts(Vec<GhostSpec>),
}

impl PlanKey {
    /// Key of a copy.
    pub fn copy(spec: &CopySpec<'_>) -> Self {
        let (src, dst, aliased) = (spec.src_region, spec.dst_region, spec.aliased);
        let permutation = spec.permutation.map(<[usize]>::to_vec);
        let operation = PlannedOperation::Copy { src, dst, aliased, permutation };
        Self { placements: vec![spec.src.clone(), spec.dst.clone()], operation, extra: Vec::new() }
    }

    /// Key of several copies in one exchange.
    pub fn copies(spec: &CopiesSpec<'_>) -> Self {
        let placements = spec.arrays.iter().map(|(placement, _)| (*placement).clone()).collect();
        let data = spec.arrays.iter().map(|(_, data)| *data).collect();
        let operation = PlannedOperation::Copies { data, pairs: spec.pairs.to_vec() };
        Self { placements, operation, extra: Vec::new() }
    }

    /// Key of a ghost update.
    pub fn ghosts(arrays: &[(&Placement, &GhostSpec)]) -> Self {
        let placements = arrays.iter().map(|(placement, _)| (*placement).clone()).collect();
        let operation = PlannedOperation::Ghosts(arrays.iter().map(|(_, spec)| (*spec).clone()).collect());
        Self { placements, operation, extra: Vec::new() }
    }

    /// Memory of the key in bytes, without chunks and owners, which arrays can share.
    pub fn bytes(&self) -> usize {
        let pairs = match &self.operation {
            PlannedOperation::Copies { pairs, .. } => pairs.len(),
            PlannedOperation::Copy { .. } | PlannedOperation::Ghosts(_) => 0,
        };
        let lists = self.placements.len() * size_of::<Placement>() + self.extra.len() * size_of::<u64>();
        size_of::<Self>() + lists + pairs * size_of::<Pair>()
    }

    /// Adds inputs of the cached value, such as element sizes.
    pub fn with(mut self, extra: &[u64]) -> Self {
        self.extra.extend_from_slice(extra);
        self
    }
}

/// Cache of plans, or of values computed from plans. `V` is an `Rc` or `Arc`.
pub type PlanCache<V> = WeightedCache<PlanKey, V>;

/// Cache with a maximum total weight of its entries.
///
/// * A full cache drops the least recently used entry, first among entries without reuse: an array
///   that is saved in thousands of parts does not replace the plans of a step.
/// * Reused entries have at most three quarters of the capacity.
/// * An entry heavier than the capacity stays until the next entry.
/// * After [`Self::bound`] the capacity grows by the weight of each dropped entry that is requested
///   again, up to four times the bound. Entries in cyclic use fit after one round.
#[derive(Debug)]
pub struct WeightedCache<K, V>
where
    K: Hash + Eq,
{
    used_once: Segment<K, V>,
    reused: Segment<K, V>,
    /// Weights of the last dropped entries by the hash of their key.
    dropped_weights: LruCache<u64, usize>,
    hasher: RandomState,
    capacity: usize,
    /// Capacity from `bound`.
    bound: usize,
    /// Capacity from `new`, the maximum of `capacity`.
    max_capacity: usize,
    weigh: fn(&K, &V) -> usize,
    hits: u64,
    misses: u64,
}

/// Entries with their weights, and the total weight.
#[derive(Debug)]
struct Segment<K: Hash + Eq, V> {
    entries: LruCache<K, (V, usize)>,
    weight: usize,
}

impl<K: Hash + Eq, V> Segment<K, V> {
    fn new() -> Self {
        Self { entries: LruCache::unbounded(), weight: 0 }
    }

    fn put(&mut self, key: K, (value, weight): (V, usize)) {
        self.weight += weight;
        self.entries.put(key, (value, weight));
    }

    fn take(&mut self, key: &K) -> Option<(K, (V, usize))> {
        let taken = self.entries.pop_entry(key);
        self.weight -= taken.as_ref().map_or(0, |(_, (_, weight))| *weight);
        taken
    }

    fn take_oldest(&mut self) -> Option<(K, (V, usize))> {
        let taken = self.entries.pop_lru();
        self.weight -= taken.as_ref().map_or(0, |(_, (_, weight))| *weight);
        taken
    }
}

const MAX_DROPPED_KEYS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// Maximum ratio of the capacity to the bound.
const MAX_GROWTH: usize = 4;

impl<K: Hash + Eq, V: Clone> WeightedCache<K, V> {
    /// Creates a cache with a maximum total weight of `capacity`. `weigh` returns the weight of an
    /// entry. A capacity of 0 keeps no entries.
    pub fn new(capacity: usize, weigh: fn(&K, &V) -> usize) -> Self {
        Self {
            used_once: Segment::new(),
            reused: Segment::new(),
            dropped_weights: LruCache::new(MAX_DROPPED_KEYS),
            hasher: RandomState::new(),
            capacity,
            bound: capacity,
            max_capacity: capacity,
            weigh,
            hits: 0,
            misses: 0,
        }
    }

    /// Returns the value of a key. `build` computes a missing value, which the cache keeps.
    ///
    /// # Errors
    /// The error of `build`, which the cache does not keep.
    pub fn get_or_build<E>(&mut self, key: K, build: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        if let Some(value) = self.get(&key) {
            return Ok(value);
        }
        let value = build()?;
        self.insert(key, value.clone());
        Ok(value)
    }

    /// Value of a key, if the cache has it.
    pub fn get(&mut self, key: &K) -> Option<V> {
        if let Some((value, _)) = self.reused.entries.get(key) {
            self.hits += 1;
            return Some(value.clone());
        }
        let Some((key, entry)) = self.used_once.take(key) else {
            self.misses += 1;
            if let Some(weight) = self.dropped_weights.pop(&self.hasher.hash_one(key)) {
                let max = self.max_capacity.min(MAX_GROWTH * self.bound).max(self.capacity);
                self.capacity = self.capacity.saturating_add(weight).min(max);
            }
            return None;
        };
        self.hits += 1;
        let value = entry.0.clone();
        self.reused.put(key, entry);
        while self.reused.weight > self.capacity - self.capacity / 4
            && let Some((key, entry)) = self.reused.take_oldest()
        {
            self.used_once.put(key, entry);
        }
        Some(value)
    }

    /// Sets the capacity to a bound and drops the entries beyond it.
    ///
    /// Requests for dropped entries increase the capacity again, up to four times the bound and the
    /// capacity from [`Self::new`]. A call with the same bound has no effect.
    pub fn bound(&mut self, capacity: usize) {
        let bound = capacity.min(self.max_capacity);
        if bound != self.bound {
            (self.bound, self.capacity) = (bound, bound);
            self.make_room(0);
        }
    }

    fn make_room(&mut self, weight: usize) {
        while self.used_once.weight + self.reused.weight + weight > self.capacity {
            let Some((key, (_, weight))) = self.used_once.take_oldest().or_else(|| self.reused.take_oldest()) else {
                break;
            };
            self.dropped_weights.put(self.hasher.hash_one(&key), weight);
        }
    }

    /// Adds an entry with a new key.
    pub fn insert(&mut self, key: K, value: V) {
        let weight = (self.weigh)(&key, &value);
        self.make_room(weight);
        if self.capacity > 0 {
            self.used_once.put(key, (value, weight));
        }
    }

    /// Number of requests for keys in the cache.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// Number of requests for missing keys.
    pub fn misses(&self) -> u64 {
        self.misses
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.used_once.entries.len() + self.reused.entries.len()
    }

    /// True for a cache without entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all entries and keeps the counters of hits and misses.
    pub fn clear(&mut self) {
        (self.used_once, self.reused) = (Segment::new(), Segment::new());
        self.dropped_weights.clear();
        self.capacity = self.bound;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Layout, Split};
    use std::convert::Infallible;
    use std::sync::Arc;

    fn placement(count: usize) -> Placement {
        Placement::balanced(Layout::new([12]).split([Split::Even(count)]).resolve(3, 4, u64::MAX).unwrap(), 3)
    }

    fn key(placement: &Placement, end: i64) -> PlanKey {
        let region = Region::new(&[0], &[end]).unwrap();
        PlanKey::copy(&CopySpec {
            src: placement,
            src_region: region,
            dst: placement,
            dst_region: region,
            aliased: false,
            permutation: None,
        })
    }

    #[test]
    fn equal_key_hits_and_different_key_misses() {
        let mut cache = PlanCache::new(8, |_, _| 1);
        let mut get = |key: PlanKey| {
            let before = cache.hits();
            cache.get_or_build(key, || Ok::<_, Infallible>(Arc::new(()))).unwrap();
            cache.hits() > before
        };
        let array = placement(3);
        assert!(!get(key(&array, 5)));
        assert!(get(key(&array, 5)));
        assert!(get(key(&placement(3), 5)), "an equal array");
        assert!(!get(key(&placement(4), 5)));
        assert!(!get(key(&array, 6)));
        assert!(!get(key(&array.reassigned(&[1, 0, 2]).unwrap(), 5)));
        assert!(!get(key(&array, 5).with(&[4])));
        assert!(!get(PlanKey::ghosts(&[(&array, &GhostSpec::all())])));
        assert!(!get(PlanKey::ghosts(&[(&array, &GhostSpec::faces())])));
        assert!(get(PlanKey::ghosts(&[(&array, &GhostSpec::all())])));
        assert_eq!((cache.hits(), cache.misses()), (3, 7));
    }

    #[test]
    fn full_cache_drops_least_recently_used_entry() {
        let mut cache = PlanCache::new(2, |_, _| 1);
        let array = placement(3);
        for end in [1, 2, 1, 3, 1, 2] {
            cache.get_or_build(key(&array, end), || Ok::<_, Infallible>(end)).unwrap();
            assert!(cache.len() <= 2);
        }
        assert_eq!((cache.hits(), cache.misses()), (2, 4));
        assert_eq!(cache.get_or_build(key(&array, 9), || Err("no")), Err("no"));
        assert_eq!(cache.len(), 2);
        // Reused entries survive many new entries, and are replaced by other reused entries.
        let mut cache = PlanCache::new(8, |_, _| 1);
        let mut is_hit = |end: i64| {
            let before = cache.hits();
            cache.get_or_build(key(&array, end), || Ok::<_, Infallible>(end)).unwrap();
            assert!(cache.len() <= 8);
            cache.hits() > before
        };
        assert!(!is_hit(1) && is_hit(1) && !is_hit(2) && is_hit(2));
        assert!((3..12).all(|end| !is_hit(end)) && is_hit(1) && is_hit(2));
        assert!((3..12).all(|end| !is_hit(end) && is_hit(end)));
        assert!(!is_hit(1) && !is_hit(2) && is_hit(11));
        let mut none = PlanCache::new(0, |_, _| 1);
        none.get_or_build(key(&array, 1), || Ok::<_, Infallible>(1)).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn capacity_grows_until_entries_used_in_turn_fit() {
        let mut cache = WeightedCache::new(64, |_: &usize, weight: &usize| *weight);
        cache.bound(16);
        let mut is_hit = |number: usize, weight: usize| {
            cache.bound(16);
            let before = cache.hits();
            cache.get_or_build(number, || Ok::<_, Infallible>(weight)).unwrap();
            (cache.hits() > before, cache.used_once.weight + cache.reused.weight)
        };
        assert!((100..200).all(|number| is_hit(number, 1).1 <= 16));
        assert_eq!([is_hit(0, 9), is_hit(1, 9), is_hit(0, 9)].map(|found| found.0), [false; 3]);
        for _ in 0..5 {
            assert_eq!([is_hit(1, 9), is_hit(0, 9)].map(|found| found.0), [true; 2]);
        }
        for round in 0..5 {
            assert!((10..30).all(|number| is_hit(number, 9).1 <= 64), "{round}");
        }
    }

    #[test]
    fn entry_heavier_than_the_capacity_is_kept_until_the_next_entry() {
        let mut cache = WeightedCache::new(100, |_: &usize, weight: &usize| *weight);
        (0..50).for_each(|number| cache.insert(number, 30));
        assert_eq!(cache.len(), 3);
        assert_eq!((cache.get(&46), cache.get(&47), cache.get(&49)), (None, Some(30), Some(30)));
        cache.insert(50, 500);
        assert_eq!((cache.len(), cache.get(&50), cache.get(&50)), (1, Some(500), Some(500)));
        cache.insert(51, 10);
        assert_eq!((cache.len(), cache.get(&50), cache.get(&51)), (1, None, Some(10)));
        (60..64).for_each(|number| cache.insert(number, 20));
        cache.bound(50);
        assert_eq!(cache.len(), 3, "two of weight 20, and the reused entry of weight 10");
        cache.insert(64, 20);
        assert_eq!((cache.len(), cache.get(&51), cache.get(&63)), (3, Some(10), Some(20)));
    }
}
