use super::Region;
use crate::extents::Index;

impl Region {
    /// Returns all cells, axis 0 fastest.
    pub fn points(&self) -> impl Iterator<Item = Index> + Clone + use<> {
        Points { region: *self, next: self.start, remaining: self.cells() }
    }

    /// Returns the first cell of each row along axis 0, axis 1 fastest.
    pub fn rows(&self) -> impl Iterator<Item = Index> + Clone + use<> {
        let mut first = *self;
        first.end[0] = self.end[0].min(self.start[0].saturating_add(1));
        first.points()
    }

    /// Returns disjoint boxes of at most these extents that cover the region, axis 0 fastest.
    /// Extents less than one cell count as one cell.
    pub fn tiles(&self, extents: &Index) -> impl Iterator<Item = Region> + Clone + use<> {
        let extents = Index::from_fn(self.axes(), |axis| extents[axis].max(1));
        Tiles { region: *self, extents, next: (!self.is_empty()).then_some(self.start) }
    }
}

/// Iterator over the cells of a region, axis 0 fastest, from [`Region::points`].
#[derive(Debug, Clone)]
struct Points {
    region: Region,
    next: Index,
    remaining: u64,
}

impl Points {
    fn next_row(&mut self) {
        self.next[0] = self.region.start[0];
        for axis in 1..self.next.axes() {
            self.next[axis] += 1;
            if self.next[axis] < self.region.end[axis] {
                return;
            }
            self.next[axis] = self.region.start[axis];
        }
    }
}

impl Iterator for Points {
    type Item = Index;
    #[inline]
    fn next(&mut self) -> Option<Index> {
        self.remaining = self.remaining.checked_sub(1)?;
        let cell = self.next;
        self.next[0] += 1;
        if self.next[0] == self.region.end[0] {
            self.next_row();
        }
        Some(cell)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::try_from(self.remaining).unwrap_or(usize::MAX), usize::try_from(self.remaining).ok())
    }

    // Faster than `next`, as the other axes are constant in a row.
    #[inline]
    fn fold<B, F: FnMut(B, Index) -> B>(mut self, init: B, mut f: F) -> B {
        let mut result = init;
        while self.remaining > 0 {
            let mut cell = self.next;
            let row = self.region.end[0] - cell[0];
            for _ in 0..row {
                result = f(result, cell);
                cell[0] += 1;
            }
            self.remaining -= row as u64;
            self.next_row();
        }
        result
    }
}

/// Iterator over the tiles of a region, axis 0 fastest, from [`Region::tiles`].
#[derive(Debug, Clone)]
struct Tiles {
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
