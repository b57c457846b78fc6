//! Packing of two 16-bit populations into one word.
//!
//! The two cells of a word are half the lattice apart along the *fold axis*, so one invocation
//! writes each word. The fold axis is the last axis that is either periodic with an even number of
//! cells, or not periodic and long enough.

use crate::precision::Precision;
use crate::problem::Problem;
use crate::side::Side;

/// Least number of cells along a fold axis with outlets: an outlet and its inner neighbour must be
/// in the same half of the lattice.
const MIN_CELLS_WITH_OUTLETS: i64 = 5;
/// Least number of cells along a fold axis with free-slip sides: an image and its cell must be in
/// the same half of the lattice.
const MIN_CELLS_WITH_IMAGES: i64 = 2;

impl Problem {
    /// Fold axis; `None` for populations of 32 bits.
    pub(crate) fn fold_axis(&self) -> Option<usize> {
        match self.precision {
            Precision::Single => None,
            Precision::Half => (0..self.set.axes()).rev().find(|&axis| self.can_fold(axis)),
        }
    }

    fn can_fold(&self, axis: usize) -> bool {
        let cells = self.extents[axis];
        let has_side = |is_kind: fn(&Side) -> bool| self.sides[axis].iter().any(is_kind);
        if self.is_periodic(axis) {
            cells % 2 == 0
        } else if has_side(|side| matches!(side, Side::Outlet(_))) {
            cells >= MIN_CELLS_WITH_OUTLETS
        } else if has_side(|side| matches!(side, Side::FreeSlip)) {
            cells >= MIN_CELLS_WITH_IMAGES
        } else {
            true
        }
    }

    /// Layers of solid cells after the last layer along an axis, for an even number along the fold
    /// axis.
    pub(crate) fn padding_layers(&self, axis: usize) -> i64 {
        if self.fold_axis() == Some(axis) { self.extents[axis] % 2 } else { 0 }
    }

    /// Extents of the grid that a [`Cut`](crate::Cut) divides.
    ///
    /// * 32 bits: cells of the lattice: the box and one layer at each side that is not periodic.
    /// * 16 bits: words of two cells, half as many along the fold axis. A box with an odd number of
    ///   cells between sides has two layers after its last cells.
    ///
    /// ```
    /// # use zippy_lbm::{Precision, Problem, Side, VelocitySet};
    /// let problem = Problem::new(VelocitySet::D3Q19, [8, 6, 5]).sides(2, Side::Wall, Side::Wall);
    /// assert_eq!(problem.cut_extents(), [8, 6, 7]);
    /// assert_eq!(problem.precision(Precision::Half).cut_extents(), [8, 6, 4]);
    /// ```
    pub fn cut_extents(&self) -> [i64; 3] {
        let (lattice, fold_axis) = (self.lattice_extents(), self.fold_axis());
        std::array::from_fn(|axis| if fold_axis == Some(axis) { lattice[axis] / 2 } else { lattice[axis] })
    }
}
