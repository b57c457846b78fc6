//! [`Moment`]: time of an operation on a chunk. [`BoxMap`]: values of disjoint boxes.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::region::Region;

/// Number of operations at each call site since the last collective. The keys are the same on every
/// rank.
pub(super) type PassCounts = BTreeMap<u64, u64>;

/// Time of an operation on a chunk: the last collective, the earlier operations on the chunk, and
/// the earlier operations of the rank that count for all of its chunks.
#[derive(Debug, Clone, Default)]
pub struct Moment {
    /// Number of collectives before the operation.
    pub collective: u64,
    /// Number of earlier operations on the chunk, by call site.
    pub chunk_passes: Rc<PassCounts>,
    /// Number of earlier operations that count for all chunks of the rank, by call site.
    pub rank_passes: Rc<PassCounts>,
    /// Index of the operation on this rank, which orders the operations of one rank.
    pub clock: u64,
}

/// Time of a write: the last collective, the call site, and the number of passes of the call site
/// since then, this write included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteTime {
    pub collective: u64,
    pub call_site: u64,
    pub count: u64,
    /// Clock of the write, if this rank wrote at a call site that the reading chunk never passed.
    pub clock: Option<u64>,
}

impl Moment {
    /// Returns the number of passes of a call site before the operation.
    pub fn passed(&self, call_site: u64) -> u64 {
        let passes = |counts: &PassCounts| counts.get(&call_site).copied().unwrap_or(0);
        passes(&self.chunk_passes) + passes(&self.rank_passes)
    }

    /// True if this moment precedes a write. Between two collectives, the moment follows the write
    /// if its chunk has passed the call site of the write at least as often: programs do the same
    /// at a call site, whichever chunk it is for.
    pub fn is_before(&self, write: WriteTime) -> bool {
        match (self.collective == write.collective, write.clock) {
            (true, Some(clock)) => self.clock < clock,
            (true, None) => write.count > self.passed(write.call_site),
            (false, _) => self.collective < write.collective,
        }
    }
}

/// Map from disjoint boxes of cells to values.
#[derive(Debug, Clone)]
pub(super) struct BoxMap<T>(Vec<(Region, T)>);

impl<T> Default for BoxMap<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> BoxMap<T> {
    /// Assigns a value to the cells of a box, in place of their earlier values.
    pub(super) fn set(&mut self, region: Region, value: T) {
        if region.is_empty() {
            return;
        }
        if self.0.iter().any(|(known, _)| known.intersects(&region)) {
            let cut = |(known, value): (Region, T)| {
                let rest = if known.intersects(&region) { known.subtract(&region) } else { vec![known] };
                rest.into_iter().map(move |part| (part, value.clone()))
            };
            self.0 = std::mem::take(&mut self.0).into_iter().flat_map(cut).collect();
        }
        self.0.push((region, value));
    }

    /// Returns the parts of a box that have values, with the values.
    pub(super) fn within(&self, region: Region) -> impl Iterator<Item = (Region, &T)> {
        self.0.iter().filter_map(move |(known, value)| Some((known.intersect(&region)?, value)))
    }

    /// Returns a copy of the map with the cells of one box only.
    pub(super) fn restricted_to(&self, region: Region) -> Self {
        Self(self.within(region).map(|(part, value)| (part, value.clone())).collect())
    }

    /// Returns the parts of a box that have no value.
    pub(super) fn uncovered(&self, region: Region) -> Vec<Region> {
        let subtract = |rest: Vec<Region>, (known, _): &(Region, T)| {
            rest.into_iter()
                .flat_map(|part| if part.intersects(known) { part.subtract(known) } else { vec![part] })
                .collect()
        };
        self.0.iter().fold(vec![region], subtract)
    }
}

impl BoxMap<Moment> {
    /// Finds a part of `cells` that was never filled (`false`) or was filled before `write`
    /// (`true`). `None` if all of `cells` were filled after the write.
    pub(super) fn find_older(&self, cells: &Region, write: WriteTime) -> Option<(Region, bool)> {
        if let Some(never) = self.uncovered(*cells).first() {
            return Some((*never, false));
        }
        self.within(*cells).find(|(_, filled)| filled.is_before(write)).map(|(cells, _)| (cells, true))
    }
}
