//! [`Region`]: half-open boxes `[start, end)` in index space, without heap memory. Operations that
//! return several boxes return disjoint boxes.

mod iterate;
mod levels;
mod tree;

pub use levels::levels;
pub use tree::RegionTree;

use std::fmt;

use crate::error::RegionError;
use crate::extents::{Index, MAX_AXES};

/// Half-open box `[start, end)` of cells, 1 to 7 axes, `start <= end` on every axis.
///
/// A region with extent 0 on an axis is empty. Regions are ordered by start, then end, axis 0
/// first, equally on all ranks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    /// First cell.
    pub start: Index,
    /// One past the last cell.
    pub end: Index,
}

impl Region {
    /// Creates the region `[start, end)` from user input.
    ///
    /// # Errors
    /// * [`RegionError::Axes`]: the numbers of axes of `start` and `end` differ.
    /// * [`RegionError::AxisCount`]: the number of axes is 0 or more than 7.
    /// * [`RegionError::Backwards`]: the end is less than the start on an axis.
    /// * [`RegionError::Overflow`]: an extent or the number of cells overflows 63 bits.
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

    /// Creates a region from trusted bounds. An axis with its end before its start becomes empty.
    #[inline]
    pub fn between(start: Index, end: Index) -> Self {
        Self { start, end: Index::from_fn(start.axes(), |axis| end[axis].max(start[axis])) }
    }

    /// Creates a region from its start and its extents, which must not be negative.
    #[inline]
    pub fn at(start: Index, extents: Index) -> Self {
        Self::between(start, start + extents)
    }

    /// Creates the region `[0, shape)`.
    pub fn whole(shape: Index) -> Self {
        Self::between(Index::zeros(shape.axes()), shape)
    }

    /// Number of axes.
    #[inline]
    pub fn axes(&self) -> usize {
        self.start.axes()
    }

    /// Number of cells along each axis.
    #[inline]
    pub fn extents(&self) -> Index {
        self.end - self.start
    }

    /// Number of cells.
    #[inline]
    pub fn cells(&self) -> u64 {
        self.extents().product().unwrap_or(u64::MAX)
    }

    /// True for a region without cells.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start.iter().zip(self.end.iter()).any(|(start, end)| start >= end)
    }

    /// True if the cell is inside the region.
    #[inline]
    pub fn contains(&self, cell: &Index) -> bool {
        (0..self.axes()).all(|axis| self.start[axis] <= cell[axis] && cell[axis] < self.end[axis])
    }

    /// True if all cells of `other` are inside this region, also for an empty `other`.
    pub fn covers(&self, other: &Self) -> bool {
        other.is_empty()
            || (0..self.axes()).all(|axis| self.start[axis] <= other.start[axis] && other.end[axis] <= self.end[axis])
    }

    /// Checks that this region, even an empty one, is inside `bounds`. `what` is the name of the
    /// bounds in the error.
    ///
    /// # Errors
    /// * [`RegionError::Axes`]: the numbers of axes differ.
    /// * [`RegionError::OutOfRange`]: the region is not inside the bounds.
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

    /// Common cells of two regions, or `None` if there are none.
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

    /// True if two regions have a common cell.
    #[inline]
    pub fn intersects(&self, other: &Self) -> bool {
        (0..self.axes()).all(|axis| self.start[axis].max(other.start[axis]) < self.end[axis].min(other.end[axis]))
    }

    /// The cells of this region that are not in `other`, as at most two disjoint, non-empty boxes
    /// per axis.
    ///
    /// The boxes of the last axis are whole slabs, and the boxes of axis 0 are the smallest, for
    /// long contiguous rows.
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

    /// Side of this region on which another region is: per axis −1 before the start, 1 after the
    /// end, otherwise 0.
    pub fn side_of(&self, other: &Self) -> Vec<i8> {
        let side = |axis: usize| {
            if other.end[axis] <= self.start[axis] { -1 } else { i8::from(other.start[axis] >= self.end[axis]) }
        };
        (0..self.axes()).map(side).collect()
    }

    /// The region moved by `offset` cells.
    #[inline]
    pub fn translate(&self, offset: &Index) -> Self {
        Self { start: self.start + *offset, end: self.end + *offset }
    }

    /// The region with `lo[axis]` more cells at its start and `hi[axis]` more cells at its end.
    pub fn grow(&self, lo: &Index, hi: &Index) -> Self {
        Self::between(self.start - *lo, self.end + *hi)
    }

    /// The region without its first `lo[axis]` and last `hi[axis]` cells per axis. With fewer
    /// cells, the result is empty and inside this region.
    pub fn shrink(&self, lo: &Index, hi: &Index) -> Self {
        let start = Index::from_fn(self.axes(), |axis| (self.start[axis] + lo[axis]).min(self.end[axis]));
        Self::between(start, self.end - *hi)
    }

    /// The first `lo` and last `hi` cells of this region per axis, as disjoint boxes: the
    /// difference of this region and [`shrink`](Self::shrink).
    pub fn shell(&self, lo: &Index, hi: &Index) -> Vec<Self> {
        self.subtract(&self.shrink(lo, hi))
    }

    /// Smallest region that contains both regions.
    pub fn bounding(&self, other: &Self) -> Self {
        Self {
            start: Index::from_fn(self.axes(), |axis| self.start[axis].min(other.start[axis])),
            end: Index::from_fn(self.axes(), |axis| self.end[axis].max(other.end[axis])),
        }
    }

    /// Union of two regions if it is a box: the regions differ on one axis only, and are adjacent
    /// on it.
    pub fn join(&self, other: &Self) -> Option<Self> {
        let mut differing =
            (0..self.axes()).filter(|&axis| self.start[axis] != other.start[axis] || self.end[axis] != other.end[axis]);
        let axis = differing.next()?;
        let adjacent = self.end[axis] == other.start[axis] || other.end[axis] == self.start[axis];
        (differing.next().is_none() && adjacent).then(|| self.bounding(other))
    }

    /// Offset of a cell, inside the region, in a dense array of this region, axis 0 fastest.
    #[inline]
    pub fn offset(&self, cell: &Index) -> u64 {
        debug_assert!(self.contains(cell), "{cell} outside {self}");
        (*cell - self.start).dot(&self.extents().dense_strides()) as u64
    }

    /// Two halves of the region, lower half first, along the slowest axis with at least two cells.
    /// `None` for fewer than two cells on every axis.
    pub fn cut_in_two(&self) -> Option<[Self; 2]> {
        let axis = (0..self.axes()).rev().find(|&axis| self.end[axis] - self.start[axis] > 1)?;
        let middle = self.start[axis] + (self.end[axis] - self.start[axis]) / 2;
        let (mut low, mut high) = (*self, *self);
        (low.end[axis], high.start[axis]) = (middle, middle);
        Some([low, high])
    }

    /// Parts of at most `max_cells` cells, but at least one cell.
    ///
    /// Parts are whole layers of the slowest axes. Their cells, in order of parts, have the order
    /// of the region's cells.
    pub fn cut(&self, max_cells: u64) -> Vec<Self> {
        let mut out = Vec::new();
        self.cut_into(max_cells, &mut out);
        out
    }

    fn cut_into(&self, max_cells: u64, out: &mut Vec<Self>) {
        let axis = (0..self.axes()).rev().find(|&axis| self.end[axis] - self.start[axis] > 1);
        let Some(axis) = axis.filter(|_| self.cells() > max_cells) else {
            out.push(*self);
            return;
        };
        let layers = self.end[axis] - self.start[axis];
        let step = (max_cells / (self.cells() / layers as u64)).clamp(1, layers as u64) as i64;
        let mut part = *self;
        while part.start[axis] < self.end[axis] {
            part.end[axis] = (part.start[axis] + step).min(self.end[axis]);
            part.cut_into(max_cells, out);
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
