//! When something was done to a chunk, and cells with what was done to them last.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::region::Region;

/// How often each place in the program has done something to a chunk since the ranks met; places by a number that is the same
/// on every rank.
pub type Counts = BTreeMap<u64, u64>;

/// When something was done: after which collective, after which operations on its chunk, and after which operations of the rank
/// that count for all chunks.
#[derive(Debug, Clone, Default)]
pub struct Moment {
    pub collective: u64,
    pub done: Rc<Counts>,
    pub done_for_all: Rc<Counts>,
    /// Number of the operation on this rank, which orders the operations of one rank.
    pub clock: u64,
}

/// When a write was done: after which collective, at which call site, and how often that had been passed since, this time
/// included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteTime {
    pub collective: u64,
    pub place: u64,
    pub count: u64,
    /// Number of the operation, where it was done by this rank at a call site that the reading chunk did not pass.
    pub clock: Option<u64>,
}

impl Moment {
    /// How often a call site had been passed.
    pub fn passed(&self, place: u64) -> u64 {
        let of = |counts: &Counts| counts.get(&place).copied().unwrap_or(0);
        of(&self.done) + of(&self.done_for_all)
    }

    /// Whether it was before a write. Within one interval between collectives a chunk that has been at the same place as
    /// often as the chunk that was written is behind the write: programs do the same at a place, whichever chunk it is for.
    pub fn is_before(&self, write: WriteTime) -> bool {
        match (self.collective == write.collective, write.clock) {
            (true, Some(clock)) => self.clock < clock,
            (true, None) => write.count > self.passed(write.place),
            (false, _) => self.collective < write.collective,
        }
    }
}

/// Boxes that do not overlap, each with something.
#[derive(Debug, Clone)]
pub struct Dated<T>(Vec<(Region, T)>);

impl<T> Default for Dated<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> Dated<T> {
    /// Says something of a box, in place of what was said of its cells before.
    pub fn set(&mut self, region: Region, of: T) {
        if region.is_empty() {
            return;
        }
        if self.0.iter().any(|(known, _)| known.intersects(&region)) {
            let cut = |(known, of): (Region, T)| {
                let rest = if known.intersects(&region) { known.subtract(&region) } else { vec![known] };
                rest.into_iter().map(move |part| (part, of.clone()))
            };
            self.0 = std::mem::take(&mut self.0).into_iter().flat_map(cut).collect();
        }
        self.0.push((region, of));
    }

    /// The parts of a box of which something was said.
    pub fn within(&self, region: Region) -> impl Iterator<Item = (Region, &T)> {
        self.0.iter().filter_map(move |(known, of)| Some((known.intersect(&region)?, of)))
    }

    /// The same as a whole.
    pub fn part(&self, region: Region) -> Self {
        Self(self.within(region).map(|(part, of)| (part, of.clone())).collect())
    }

    /// The parts of a box of which nothing was said.
    pub fn without(&self, region: Region) -> Vec<Region> {
        let less = |left: Vec<Region>, (known, _): &(Region, T)| {
            left.into_iter()
                .flat_map(|part| if part.intersects(known) { part.subtract(known) } else { vec![part] })
                .collect()
        };
        self.0.iter().fold(vec![region], less)
    }
}

impl Dated<Moment> {
    /// Cells of a box that are from before a write, and whether they have a date at all.
    pub fn older_than(&self, cells: &Region, write: WriteTime) -> Option<(Region, bool)> {
        if let Some(never) = self.without(*cells).first() {
            return Some((*never, false));
        }
        self.within(*cells).find(|(_, filled)| filled.is_before(write)).map(|(cells, _)| (cells, true))
    }
}
