//! [`Spot`]: a cell's position as ranks exchange it.

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

/// A position with the slowest axis first, so that the order is that of the cells, axis 0 fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Spot([i64; MAX_AXES]);

impl Spot {
    /// Behind every position.
    pub const NOWHERE: Self = Self([i64::MAX; MAX_AXES]);

    /// Of a position.
    pub fn new(position: &Index) -> Self {
        let axes = position.axes();
        Self(std::array::from_fn(|i| if i < axes { position[axes - 1 - i] } else { 0 }))
    }

    /// Of a cell of a region, by its index there, axis 0 fastest.
    pub fn of_cell(region: &Region, index: u64) -> Self {
        let (mut rest, mut position) = (index as i64, region.start);
        for axis in 0..region.axes() {
            let extent = (region.end[axis] - region.start[axis]).max(1);
            position[axis] += rest % extent;
            rest /= extent;
        }
        Self::new(&position)
    }

    /// The first cell of a region that has something, which some of its cells have: `there` tells whether cells of a part do.
    pub fn first(mut region: Region, there: impl Fn(Region) -> Result<bool>) -> Result<Self> {
        // The lower half along the slowest axis comes first in the order of cells.
        while let Some([low, high]) = region.cut_in_two() {
            region = if there(low)? { low } else { high };
        }
        Ok(Self::new(&region.start))
    }

    /// The position, of an array of `D` axes.
    pub fn position<const D: usize>(&self) -> [i64; D] {
        std::array::from_fn(|axis| self.0[D - 1 - axis])
    }

    /// The position, of an array of so many axes; none where there is none.
    pub fn in_axes(&self, axes: usize) -> Option<Vec<i64>> {
        (*self != Self::NOWHERE).then(|| self.0[..axes].iter().rev().copied().collect())
    }
}
