//! [`CellPosition`]: position of a cell, ordered and exchanged between ranks.

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

/// Position of a cell. The axes are stored with the slowest first, so that comparisons follow the
/// order of cells, axis 0 fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct CellPosition([i64; MAX_AXES]);

impl CellPosition {
    /// Larger than every position.
    pub(crate) const NOWHERE: Self = Self([i64::MAX; MAX_AXES]);

    pub(crate) fn new(position: &Index) -> Self {
        let axes = position.axes();
        Self(std::array::from_fn(|i| if i < axes { position[axes - 1 - i] } else { 0 }))
    }

    /// Position of a cell, given by its index in a region, axis 0 fastest.
    pub(crate) fn of_cell(region: &Region, index: u64) -> Self {
        let (mut rest, mut position) = (index as i64, region.start);
        for axis in 0..region.axes() {
            let extent = (region.end[axis] - region.start[axis]).max(1);
            position[axis] += rest % extent;
            rest /= extent;
        }
        Self::new(&position)
    }

    /// Bisects a region for the first cell with a property. `has_cell` returns true if a part of
    /// the region has such a cell; the whole region must have one.
    pub(crate) fn bisect(mut region: Region, has_cell: impl Fn(Region) -> Result<bool>) -> Result<Self> {
        // The lower half along the slowest axis precedes the upper half in the order of cells.
        while let Some([low, high]) = region.cut_in_two() {
            region = if has_cell(low)? { low } else { high };
        }
        Ok(Self::new(&region.start))
    }

    /// Converts to coordinates in an array of `D` axes.
    pub(crate) fn position<const D: usize>(&self) -> [i64; D] {
        std::array::from_fn(|axis| self.0[D - 1 - axis])
    }

    /// Converts to coordinates in an array with this number of axes; `None` for
    /// [`NOWHERE`](Self::NOWHERE).
    pub(crate) fn in_axes(&self, axes: usize) -> Option<Vec<i64>> {
        (*self != Self::NOWHERE).then(|| self.0[..axes].iter().rev().copied().collect())
    }
}
