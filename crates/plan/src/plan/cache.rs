//! The plan cache: a repeated operation builds no plan. The same cache keeps whatever else is costly to make.

use std::hash::{BuildHasher, Hash, RandomState};
use std::num::NonZeroUsize;

use lru::LruCache;

use super::{CopiesSpec, CopySpec, GhostSpec, Pair};
use crate::locate::Placement;
use crate::region::Region;

/// All that a plan depends on but the rank, which a cache belongs to.
///
/// Placements are compared by pointer first and by content then, so that arrays made alike share plans
/// and a hit on the same array costs next to nothing.
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
    /// The key of a copy.
    pub fn copy(spec: &CopySpec) -> Self {
        let (src, dst, aliased) = (spec.src_region, spec.dst_region, spec.aliased);
        let permutation = spec.permutation.map(<[usize]>::to_vec);
        let operation = PlannedOperation::Copy { src, dst, aliased, permutation };
        Self { placements: vec![spec.src.clone(), spec.dst.clone()], operation, extra: Vec::new() }
    }

    /// The key of many copies.
    pub fn copies(spec: &CopiesSpec) -> Self {
        let placements = spec.arrays.iter().map(|(placement, _)| (*placement).clone()).collect();
        let data = spec.arrays.iter().map(|(_, data)| *data).collect();
        let operation = PlannedOperation::Copies { data, pairs: spec.pairs.to_vec() };
        Self { placements, operation, extra: Vec::new() }
    }

    /// The key of a ghost update.
    pub fn ghosts(arrays: &[(&Placement, &GhostSpec)]) -> Self {
        let placements = arrays.iter().map(|(placement, _)| (*placement).clone()).collect();
        let operation = PlannedOperation::Ghosts(arrays.iter().map(|(_, spec)| (*spec).clone()).collect());
        Self { placements, operation, extra: Vec::new() }
    }

    /// Bytes of memory that the key takes, chunks and owners that it may share with arrays not counted.
    pub fn bytes(&self) -> usize {
        let pairs = match &self.operation {
            PlannedOperation::Copies { pairs, .. } => pairs.len(),
            PlannedOperation::Copy { .. } | PlannedOperation::Ghosts(_) => 0,
        };
        let lists = self.placements.len() * size_of::<Placement>() + self.extra.len() * size_of::<u64>();
        size_of::<Self>() + lists + pairs * size_of::<Pair>()
    }

    /// Adds whatever else a caller's cached value depends on, such as element sizes.
    pub fn with(mut self, extra: &[u64]) -> Self {
        self.extra.extend_from_slice(extra);
        self
    }
}

/// A cache of plans, or of whatever a caller makes of them (`V` is an `Rc` or `Arc`).
pub type PlanCache<V> = WeightedCache<PlanKey, V>;

/// A cache that is bounded by the weight of its entries. Drops the entry that was not used for the longest time: first of those
/// that were used once only, so that an array that is saved in thousands of pieces does not drive out the plans of a step.
/// Those used again have three quarters of the room at most. An entry heavier than all of the room is kept until the next one
/// comes. After [`Self::bound`] the capacity grows by the weight of each dropped entry that a caller asks for again, up to
/// four times the bound: entries that are used in turn fit after one round.
#[derive(Debug)]
pub struct WeightedCache<K, V>
where
    K: Hash + Eq,
{
    once: Segment<K, V>,
    again: Segment<K, V>,
    /// Hashes of the keys that were dropped last, and the weights of their entries.
    dropped_weights: LruCache<u64, usize>,
    hasher: RandomState,
    capacity: usize,
    /// Capacity given to `bound`, from which `capacity` grows.
    bound: usize,
    /// Capacity given to `new`, which no bound exceeds.
    max_capacity: usize,
    weigh: fn(&K, &V) -> usize,
    hits: u64,
    misses: u64,
}

/// Entries with their weights, and the sum of these.
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

/// Most dropped keys that a cache remembers.
const MOST_DROPPED_KEYS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// Largest capacity of a cache in terms of its bound.
const MOST_GROWTH: usize = 4;

impl<K: Hash + Eq, V: Clone> WeightedCache<K, V> {
    /// A cache whose entries weigh at most `capacity` together, each as much as `weigh` says; with 0 it keeps nothing.
    pub fn new(capacity: usize, weigh: fn(&K, &V) -> usize) -> Self {
        Self {
            once: Segment::new(),
            again: Segment::new(),
            dropped_weights: LruCache::new(MOST_DROPPED_KEYS),
            hasher: RandomState::new(),
            capacity,
            bound: capacity,
            max_capacity: capacity,
            weigh,
            hits: 0,
            misses: 0,
        }
    }

    /// The value of this key, made by `build` when it is not there. A failure is not kept.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn get_or_build<E>(&mut self, key: K, build: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        if let Some(value) = self.get(&key) {
            return Ok(value);
        }
        let value = build()?;
        self.insert(key, value.clone());
        Ok(value)
    }

    /// The value of this key, if it is there.
    pub fn get(&mut self, key: &K) -> Option<V> {
        if let Some((value, _)) = self.again.entries.get(key) {
            self.hits += 1;
            return Some(value.clone());
        }
        let Some((key, entry)) = self.once.take(key) else {
            self.misses += 1;
            if let Some(weight) = self.dropped_weights.pop(&self.hasher.hash_one(key)) {
                let most = self.max_capacity.min(MOST_GROWTH * self.bound).max(self.capacity);
                self.capacity = self.capacity.saturating_add(weight).min(most);
            }
            return None;
        };
        self.hits += 1;
        let value = entry.0.clone();
        self.again.put(key, entry);
        while self.again.weight > self.capacity - self.capacity / 4
            && let Some((key, entry)) = self.again.take_oldest()
        {
            self.once.put(key, entry);
        }
        Some(value)
    }

    /// Lowers the capacity, and drops the entries beyond it. From there the capacity grows when a caller asks for a dropped entry, to
    /// four times the bound at most, and to the capacity given to [`Self::new`]. The same bound again changes nothing.
    pub fn bound(&mut self, capacity: usize) {
        let bound = capacity.min(self.max_capacity);
        if bound != self.bound {
            (self.bound, self.capacity) = (bound, bound);
            self.make_room(0);
        }
    }

    fn make_room(&mut self, weight: usize) {
        while self.once.weight + self.again.weight + weight > self.capacity {
            let Some((key, (_, weight))) = self.once.take_oldest().or_else(|| self.again.take_oldest()) else { break };
            self.dropped_weights.put(self.hasher.hash_one(&key), weight);
        }
    }

    /// Keeps a value under a key that is not there.
    pub fn insert(&mut self, key: K, value: V) {
        let weight = (self.weigh)(&key, &value);
        self.make_room(weight);
        if self.capacity > 0 {
            self.once.put(key, (value, weight));
        }
    }

    /// How often a plan was there.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// How often a plan had to be built.
    pub fn misses(&self) -> u64 {
        self.misses
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.once.entries.len() + self.again.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all entries; counters go on.
    pub fn clear(&mut self) {
        (self.once, self.again) = (Segment::new(), Segment::new());
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
    fn content_hits_and_any_difference_misses() {
        let mut cache = PlanCache::new(8, |_, _| 1);
        let mut get = |key: PlanKey| {
            let before = cache.hits();
            cache.get_or_build(key, || Ok::<_, Infallible>(Arc::new(()))).unwrap();
            cache.hits() > before
        };
        let array = placement(3);
        assert!(!get(key(&array, 5)));
        assert!(get(key(&array, 5)));
        assert!(get(key(&placement(3), 5)), "an array made alike");
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
    fn it_is_bounded_and_drops_the_least_recently_used() {
        let mut cache = PlanCache::new(2, |_, _| 1);
        let array = placement(3);
        for end in [1, 2, 1, 3, 1, 2] {
            cache.get_or_build(key(&array, end), || Ok::<_, Infallible>(end)).unwrap();
            assert!(cache.len() <= 2);
        }
        assert_eq!((cache.hits(), cache.misses()), (2, 4));
        assert_eq!(cache.get_or_build(key(&array, 9), || Err("no")), Err("no"));
        assert_eq!(cache.len(), 2);
        // Used again and again, whatever comes in between; but not for ever.
        let mut cache = PlanCache::new(8, |_, _| 1);
        let mut is_there = |end: i64| {
            let before = cache.hits();
            cache.get_or_build(key(&array, end), || Ok::<_, Infallible>(end)).unwrap();
            assert!(cache.len() <= 8);
            cache.hits() > before
        };
        assert!(!is_there(1) && is_there(1) && !is_there(2) && is_there(2));
        assert!((3..12).all(|end| !is_there(end)) && is_there(1) && is_there(2));
        assert!((3..12).all(|end| !is_there(end) && is_there(end)));
        assert!(!is_there(1) && !is_there(2) && is_there(11));
        let mut none = PlanCache::new(0, |_, _| 1);
        none.get_or_build(key(&array, 1), || Ok::<_, Infallible>(1)).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn capacity_grows_until_entries_used_in_turn_fit() {
        let mut cache = WeightedCache::new(64, |_: &usize, weight: &usize| *weight);
        cache.bound(16);
        let mut is_there = |number: usize, weight: usize| {
            // Users of a cache bound it before each request.
            cache.bound(16);
            let before = cache.hits();
            cache.get_or_build(number, || Ok::<_, Infallible>(weight)).unwrap();
            (cache.hits() > before, cache.once.weight + cache.again.weight)
        };
        // What comes once only needs no room.
        assert!((100..200).all(|number| is_there(number, 1).1 <= 16));
        assert_eq!([is_there(0, 9), is_there(1, 9), is_there(0, 9)].map(|found| found.0), [false; 3]);
        for _ in 0..5 {
            assert_eq!([is_there(1, 9), is_there(0, 9)].map(|found| found.0), [true; 2]);
        }
        // More than there may ever be.
        for round in 0..5 {
            assert!((10..30).all(|number| is_there(number, 9).1 <= 64), "{round}");
        }
    }

    #[test]
    fn weights_bound_it_and_a_heavy_entry_is_kept_alone() {
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
        assert_eq!(cache.len(), 3, "two of 20, and the one of 10 that was used again");
        cache.insert(64, 20);
        assert_eq!((cache.len(), cache.get(&51), cache.get(&63)), (3, Some(10), Some(20)));
    }
}
