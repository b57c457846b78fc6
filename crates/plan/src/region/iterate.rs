//! Walking the cells and the tiles of a region.

use super::Region;
use crate::extents::Index;

impl Region {
    /// All cells, axis 0 fastest.
    pub fn points(&self) -> Points {
        Points { region: *self, next: (!self.is_empty()).then_some(self.start) }
    }

    /// Disjoint boxes of at most these extents that cover the region, axis 0 fastest. Extents of less than one cell are taken
    /// as one cell.
    pub fn tiles(&self, extents: &Index) -> Tiles {
        let extents = Index::from_fn(self.axes(), |axis| extents[axis].max(1));
        Tiles { region: *self, extents, next: (!self.is_empty()).then_some(self.start) }
    }
}

/// Iterator over the cells of a region, axis 0 fastest. See [`Region::points`].
#[derive(Debug, Clone)]
pub struct Points {
    region: Region,
    next: Option<Index>,
}

impl Iterator for Points {
    type Item = Index;
    #[inline]
    fn next(&mut self) -> Option<Index> {
        let this = self.next?;
        let mut next = this;
        self.next = None;
        for axis in 0..this.axes() {
            next[axis] += 1;
            if next[axis] < self.region.end[axis] {
                self.next = Some(next);
                break;
            }
            next[axis] = self.region.start[axis];
        }
        Some(this)
    }
}

/// Iterator over the tiles of a region, axis 0 fastest. See [`Region::tiles`].
#[derive(Debug, Clone)]
pub struct Tiles {
    region: Region,
    extents: Index,
    next: Option<Index>,
}

impl Iterator for Tiles {
    type Item = Region;
    #[inline]
    fn next(&mut self) -> Option<Region> {
        let start = self.next?;
        let end = Index::from_fn(start.axes(), |axis| {
            self.region.end[axis].min(start[axis].saturating_add(self.extents[axis]))
        });
        let mut next = start;
        self.next = None;
        for axis in 0..start.axes() {
            next[axis] = end[axis];
            if next[axis] < self.region.end[axis] {
                self.next = Some(next);
                break;
            }
            next[axis] = self.region.start[axis];
        }
        Some(Region { start, end })
    }
}
