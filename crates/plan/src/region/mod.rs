//! Regions: half-open boxes `[start, end)` in index space, and their algebra.
//!
//! Everything that the library moves is a region of some array, so this module is the alphabet of
//! plans. A [`Region`] never allocates; operations that give several boxes return disjoint ones.

mod iterate;
mod levels;
mod tree;

pub use iterate::{Points, Tiles};
pub use levels::levels;
pub use tree::RegionTree;

use std::fmt;

use crate::error::RegionError;
use crate::extents::{Index, MAX_AXES};

/// A half-open box `[start, end)` of cells, 1 to 7 axes, `start <= end` on every axis.
///
/// A region that has a zero extent on any axis is empty. Regions are ordered by start, then end,
/// axis 0 first, so that lists of them can be sorted the same way on every rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    /// First cell.
    pub start: Index,
    /// One past the last cell.
    pub end: Index,
}

impl Region {
    /// The region `[start, end)`, checked: this is the constructor for what a user gives.
    ///
    /// # Errors
    /// When the numbers of axes differ, are zero or more than 7, when an axis runs backwards, or when
    /// an extent or the number of cells overflows 63 bits.
    pub fn new(start: &[i64], end: &[i64]) -> Result<Self, RegionError> {
        if start.len() != end.len() {
            return Err(RegionError::Axes { given: end.len(), expected: start.len() });
        }
        if start.is_empty() || start.len() > MAX_AXES {
            return Err(RegionError::AxisCount { given: start.len() });
        }
        let (start, end) = (Index::new(start), Index::new(end));
        if let Some(axis) = (0..start.axes()).find(|&axis| end[axis] < start[axis]) {
            return Err(RegionError::Backwards { start, end, axis });
        }
        let extents = Index::from_fn(start.axes(), |axis| end[axis].saturating_sub(start[axis]));
        let wide = (0..start.axes()).any(|axis| end[axis].checked_sub(start[axis]).is_none());
        if wide || extents.product().is_none() {
            return Err(RegionError::Overflow { extents });
        }
        Ok(Self { start, end })
    }

    /// The region of these bounds; an axis that would run backwards becomes empty. For bounds that
    /// the library computed itself from checked ones.
    #[inline]
    pub fn between(start: Index, end: Index) -> Self {
        Self { start, end: Index::from_fn(start.axes(), |axis| end[axis].max(start[axis])) }
    }

    /// The region that starts at `start` and has these (non-negative) extents.
    #[inline]
    pub fn at(start: Index, extents: Index) -> Self {
        Self::between(start, start + extents)
    }

    /// The region `[0, shape)`.
    pub fn whole(shape: Index) -> Self {
        Self::between(Index::zeros(shape.axes()), shape)
    }

    /// Number of axes.
    #[inline]
    pub fn axes(&self) -> usize {
        self.start.axes()
    }

    /// Cells along each axis.
    #[inline]
    pub fn extents(&self) -> Index {
        self.end - self.start
    }

    /// Number of cells.
    #[inline]
    pub fn cells(&self) -> u64 {
        self.extents().product().unwrap_or(u64::MAX)
    }

    /// Whether it has no cells.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start.iter().zip(self.end.iter()).any(|(start, end)| start >= end)
    }

    /// Whether the cell lies inside.
    #[inline]
    pub fn contains(&self, cell: &Index) -> bool {
        (0..self.axes()).all(|axis| self.start[axis] <= cell[axis] && cell[axis] < self.end[axis])
    }

    /// Whether every cell of `other` lies inside (true for an empty `other`).
    pub fn covers(&self, other: &Self) -> bool {
        other.is_empty()
            || (0..self.axes()).all(|axis| self.start[axis] <= other.start[axis] && other.end[axis] <= self.end[axis])
    }

    /// Checks that this region lies within `bounds`, which `what` names for the message.
    ///
    /// An empty region must also lie within the bounds, so that a typing error is found even when the
    /// region happens to be empty.
    ///
    /// # Errors
    /// When the numbers of axes differ or an axis leaves the bounds.
    pub fn check_within(&self, bounds: &Self, what: &str) -> Result<(), RegionError> {
        if self.axes() != bounds.axes() {
            return Err(RegionError::Axes { given: self.axes(), expected: bounds.axes() });
        }
        let leaves = |axis: &usize| self.start[*axis] < bounds.start[*axis] || self.end[*axis] > bounds.end[*axis];
        match (0..self.axes()).find(leaves) {
            None => Ok(()),
            Some(axis) => Err(RegionError::OutOfRange {
                start: self.start,
                end: self.end,
                what: what.to_owned(),
                bound_start: bounds.start,
                bound_end: bounds.end,
                axis,
            }),
        }
    }

    /// The cells in both, or `None` when there are none.
    pub fn intersect(&self, other: &Self) -> Option<Self> {
        let (mut start, mut end) = (self.start, self.end);
        for axis in 0..self.axes() {
            start[axis] = start[axis].max(other.start[axis]);
            end[axis] = end[axis].min(other.end[axis]);
            if start[axis] >= end[axis] {
                return None;
            }
        }
        Some(Self { start, end })
    }

    /// Whether they share a cell.
    #[inline]
    pub fn intersects(&self, other: &Self) -> bool {
        (0..self.axes()).all(|axis| self.start[axis].max(other.start[axis]) < self.end[axis].min(other.end[axis]))
    }

    /// The cells of this region that are not in `other`: at most two disjoint, non-empty boxes per
    /// axis. The boxes of the last axis are whole slabs; those of axis 0 are the smallest, so that
    /// the pieces have long contiguous rows.
    pub fn subtract(&self, other: &Self) -> Vec<Self> {
        if self.is_empty() {
            return Vec::new();
        }
        let Some(hole) = self.intersect(other) else { return vec![*self] };
        let mut rest = *self;
        let mut pieces = Vec::new();
        for axis in (0..self.axes()).rev() {
            if rest.start[axis] < hole.start[axis] {
                let mut piece = rest;
                piece.end[axis] = hole.start[axis];
                pieces.push(piece);
                rest.start[axis] = hole.start[axis];
            }
            if hole.end[axis] < rest.end[axis] {
                let mut piece = rest;
                piece.start[axis] = hole.end[axis];
                pieces.push(piece);
                rest.end[axis] = hole.end[axis];
            }
        }
        pieces
    }

    /// On which side of this box another one lies: −1 or 1 for an axis along which it is before the start or past the end,
    /// else 0.
    pub fn side_of(&self, other: &Self) -> Vec<i8> {
        let of = |axis: usize| match () {
            () if other.end[axis] <= self.start[axis] => -1,
            () if other.start[axis] >= self.end[axis] => 1,
            () => 0,
        };
        (0..self.axes()).map(of).collect()
    }

    /// The region moved by `offset` cells.
    #[inline]
    pub fn translate(&self, offset: &Index) -> Self {
        Self { start: self.start + *offset, end: self.end + *offset }
    }

    /// The region with `lo[axis]` more cells before and `hi[axis]` more cells behind on each axis.
    pub fn grow(&self, lo: &Index, hi: &Index) -> Self {
        Self::between(self.start - *lo, self.end + *hi)
    }

    /// The region without its first `lo[axis]` and its last `hi[axis]` cells on each axis; empty, and
    /// inside this region, when there are not so many.
    pub fn shrink(&self, lo: &Index, hi: &Index) -> Self {
        let start = Index::from_fn(self.axes(), |axis| (self.start[axis] + lo[axis]).min(self.end[axis]));
        Self::between(start, self.end - *hi)
    }

    /// The cells of this region that lie within `lo` / `hi` cells of its sides, as disjoint boxes:
    /// what remains without [`shrink`](Self::shrink).
    pub fn shell(&self, lo: &Index, hi: &Index) -> Vec<Self> {
        self.subtract(&self.shrink(lo, hi))
    }

    /// The smallest region that holds both.
    pub fn bounding(&self, other: &Self) -> Self {
        Self {
            start: Index::from_fn(self.axes(), |axis| self.start[axis].min(other.start[axis])),
            end: Index::from_fn(self.axes(), |axis| self.end[axis].max(other.end[axis])),
        }
    }

    /// Both as one box, when together they are exactly a box: same extent on all axes but one, and
    /// adjoining on that one.
    pub fn join(&self, other: &Self) -> Option<Self> {
        let mut differing =
            (0..self.axes()).filter(|&axis| self.start[axis] != other.start[axis] || self.end[axis] != other.end[axis]);
        let axis = differing.next()?;
        let adjoin = self.end[axis] == other.start[axis] || other.end[axis] == self.start[axis];
        (differing.next().is_none() && adjoin).then(|| self.bounding(other))
    }

    /// The position of a cell in a dense array of this region, axis 0 fastest. The cell must lie inside.
    #[inline]
    pub fn offset(&self, cell: &Index) -> u64 {
        debug_assert!(self.contains(cell), "{cell} outside {self}");
        (*cell - self.start).dot(&self.extents().dense_strides()) as u64
    }

    /// Both halves along the slowest axis that can be cut; the cells of the lower one come first, axis 0 fastest.
    pub fn cut_in_two(&self) -> Option<[Self; 2]> {
        let axis = (0..self.axes()).rev().find(|&axis| self.end[axis] - self.start[axis] > 1)?;
        let middle = self.start[axis] + (self.end[axis] - self.start[axis]) / 2;
        let (mut low, mut high) = (*self, *self);
        (low.end[axis], high.start[axis]) = (middle, middle);
        Some([low, high])
    }

    /// Parts of at most `most` cells (at least one), cut along the slowest axes into as many whole layers as fit: their
    /// cells, part by part, come in the order of the region's own.
    pub fn cut(&self, most: u64) -> Vec<Self> {
        let mut out = Vec::new();
        self.cut_into(most, &mut out);
        out
    }

    fn cut_into(&self, most: u64, out: &mut Vec<Self>) {
        let axis = (0..self.axes()).rev().find(|&axis| self.end[axis] - self.start[axis] > 1);
        let Some(axis) = axis.filter(|_| self.cells() > most) else {
            out.push(*self);
            return;
        };
        let layers = self.end[axis] - self.start[axis];
        let step = (most / (self.cells() / layers as u64)).clamp(1, layers as u64) as i64;
        let mut part = *self;
        while part.start[axis] < self.end[axis] {
            part.end[axis] = (part.start[axis] + step).min(self.end[axis]);
            part.cut_into(most, out);
            part.start[axis] = part.end[axis];
        }
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[")?;
        for axis in 0..self.axes() {
            write!(f, "{}{}..{}", if axis == 0 { "" } else { ", " }, self.start[axis], self.end[axis])?;
        }
        write!(f, "]")
    }
}

#[cfg(test)]
mod tests;
