//! The plan cache: a repeated operation builds no plan.

use lru::LruCache;

use super::{CopiesSpec, CopySpec, GhostSpec, Pair};
use crate::locate::Placement;
use crate::region::Region;

/// Pairs of many copies that count as much as another operation.
const PAIRS_OF_ONE: usize = 8;

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

    /// How much of a cache the plan takes: one, and more for many pairs.
    fn weight(&self) -> usize {
        match &self.operation {
            PlannedOperation::Copies { pairs, .. } => 1 + pairs.len() / PAIRS_OF_ONE,
            PlannedOperation::Copy { .. } | PlannedOperation::Ghosts(_) => 1,
        }
    }

    /// Adds whatever else a caller's cached value depends on, such as element sizes.
    pub fn with(mut self, extra: &[u64]) -> Self {
        self.extra.extend_from_slice(extra);
        self
    }
}

/// A bounded cache of plans, or of whatever a caller makes of them (`V` is an `Rc` or `Arc`). Drops the
/// entry that was not used for the longest time: first of those that were used once only, so that an array that is saved in
/// thousands of pieces does not drive out the plans of a step. Those used again have three quarters of the room at most.
#[derive(Debug)]
pub struct PlanCache<V> {
    once: Segment<V>,
    again: Segment<V>,
    capacity: usize,
    hits: u64,
    misses: u64,
}

/// Entries, and what they take.
#[derive(Debug)]
struct Segment<V> {
    entries: LruCache<PlanKey, V>,
    weight: usize,
}

impl<V> Segment<V> {
    fn new() -> Self {
        Self { entries: LruCache::unbounded(), weight: 0 }
    }

    fn put(&mut self, key: PlanKey, value: V) {
        self.weight += key.weight();
        self.entries.put(key, value);
    }

    fn take(&mut self, key: &PlanKey) -> Option<(PlanKey, V)> {
        let taken = self.entries.pop_entry(key);
        self.weight -= taken.as_ref().map_or(0, |(key, _)| key.weight());
        taken
    }

    fn take_oldest(&mut self) -> Option<(PlanKey, V)> {
        let taken = self.entries.pop_lru();
        self.weight -= taken.as_ref().map_or(0, |(key, _)| key.weight());
        taken
    }
}

impl<V: Clone> PlanCache<V> {
    /// A cache of at most `capacity` entries, fewer where plans of many pairs are among them; with 0 it keeps nothing.
    pub fn new(capacity: usize) -> Self {
        Self { once: Segment::new(), again: Segment::new(), capacity, hits: 0, misses: 0 }
    }

    /// The value of this key, made by `build` when it is not there. A failure is not kept.
    ///
    /// # Errors
    /// Those of `build`.
    pub fn get_or_build<E>(&mut self, key: PlanKey, build: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        if let Some(value) = self.again.entries.get(&key) {
            self.hits += 1;
            return Ok(value.clone());
        }
        if let Some((key, value)) = self.once.take(&key) {
            self.hits += 1;
            self.again.put(key, value.clone());
            while self.again.weight > self.capacity - self.capacity / 4
                && let Some((key, value)) = self.again.take_oldest()
            {
                self.once.put(key, value);
            }
            return Ok(value);
        }
        self.misses += 1;
        let value = build()?;
        let weight = key.weight();
        if weight > self.capacity {
            return Ok(value);
        }
        while self.once.weight + self.again.weight + weight > self.capacity {
            if self.once.take_oldest().or_else(|| self.again.take_oldest()).is_none() {
                break;
            }
        }
        self.once.put(key, value.clone());
        Ok(value)
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
        let mut cache = PlanCache::new(8);
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
        let mut cache = PlanCache::new(2);
        let array = placement(3);
        for end in [1, 2, 1, 3, 1, 2] {
            cache.get_or_build(key(&array, end), || Ok::<_, Infallible>(end)).unwrap();
            assert!(cache.len() <= 2);
        }
        assert_eq!((cache.hits(), cache.misses()), (2, 4));
        assert_eq!(cache.get_or_build(key(&array, 9), || Err("no")), Err("no"));
        assert_eq!(cache.len(), 2);
        // Used again and again, whatever comes in between; but not for ever.
        let mut cache = PlanCache::new(8);
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
        let mut none = PlanCache::new(0);
        none.get_or_build(key(&array, 1), || Ok::<_, Infallible>(1)).unwrap();
        assert!(none.is_empty());
    }
}
