//! Moments, and cells with the moment of what happened to them last.

use crate::region::Region;

/// A number of a collective, and a place among the operations on a chunk since then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment {
    pub collective: u64,
    pub place: u64,
}

/// Boxes that do not overlap, each with a moment and something of that moment.
#[derive(Debug, Clone)]
pub struct Dated<T>(Vec<(Region, Moment, T)>);

impl<T> Default for Dated<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> Dated<T> {
    /// Dates a box anew.
    pub fn set(&mut self, region: Region, moment: Moment, of: T) {
        if region.is_empty() {
            return;
        }
        if self.0.iter().any(|(known, ..)| known.intersects(&region)) {
            let cut = |(known, moment, of): (Region, Moment, T)| {
                let rest = if known.intersects(&region) { known.subtract(&region) } else { vec![known] };
                rest.into_iter().map(move |part| (part, moment, of.clone()))
            };
            self.0 = std::mem::take(&mut self.0).into_iter().flat_map(cut).collect();
        }
        self.0.push((region, moment, of));
    }

    /// The parts of a box that have a date.
    pub fn within(&self, region: Region) -> impl Iterator<Item = (Region, Moment, &T)> {
        self.0.iter().filter_map(move |(known, moment, of)| Some((known.intersect(&region)?, *moment, of)))
    }

    /// The parts of a box that have none.
    pub fn without(&self, region: Region) -> Vec<Region> {
        let less = |left: Vec<Region>, (known, ..): &(Region, Moment, T)| {
            left.into_iter()
                .flat_map(|part| if part.intersects(known) { part.subtract(known) } else { vec![part] })
                .collect()
        };
        self.0.iter().fold(vec![region], less)
    }
}
