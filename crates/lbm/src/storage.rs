//! In how many bits populations are kept.
//!
//! Halves are populations times 2^15, rounded up or down by a hash of cell, population and step.
//! Rounding to the nearest half would repeat the same error in each step of a steady flow, and such
//! an error acts like a force.

use crate::problem::{Problem, Side};

/// How populations are kept; they are computed in 32 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Storage {
    /// As numbers of 32 bits.
    #[default]
    Single,
    /// As halves of 16 bits, two in a word: half the memory, and half of what moves. They are rounded to eleven binary digits
    /// after each step, up or down by chance, which is a noise in velocities of some ten-thousandths of the speed (0.05 cells
    /// a step; slower flows have more). A flow never becomes quite steady.
    ///
    /// The two cells of a word lie half the lattice apart along one axis, the last one that is periodic with an even number
    /// of cells, or not periodic. So an invocation has both, and writes no word that another one writes, too.
    Half,
}

/// The fewest cells between outlets on an axis that is folded: an outlet and the cell before it are on one side of the fold.
const BETWEEN_OUTLETS: i64 = 5;

impl Problem {
    /// The axis along which the two cells of a word lie half the lattice apart, if words have two.
    pub(crate) fn fold(&self) -> Option<usize> {
        match self.storage {
            Storage::Single => None,
            Storage::Half => (0..self.set.axes()).rev().find(|&axis| self.folds(axis)),
        }
    }

    /// Whether an axis can be folded.
    pub(crate) fn folds(&self, axis: usize) -> bool {
        let cells = self.extents[axis];
        let any = |kind: fn(&Side) -> bool| self.sides[axis].iter().any(kind);
        match self.periodic(axis) {
            true => cells % 2 == 0,
            false if any(|side| matches!(side, Side::Outlet(_))) => cells >= BETWEEN_OUTLETS,
            // A mirror's cell and the one that it shows are on one side of the fold.
            false if any(|side| matches!(side, Side::FreeSlip)) => cells >= 2,
            false => true,
        }
    }

    /// How many layers of solid cells stand behind the lattice's last one along an axis, so that it has two halves.
    pub(crate) fn pad(&self, axis: usize) -> i64 {
        if self.fold() == Some(axis) { self.extents[axis] % 2 } else { 0 }
    }

    /// The extents of what a [`Cut`](crate::Cut) cuts. In 32 bits, the cells of the lattice along each axis: those of the box,
    /// and a layer beyond each side that is not periodic. In 16 bits, words of two cells: along the axis that is folded
    /// half as many, of which a box with an odd number of cells between sides has two layers behind it.
    ///
    /// ```
    /// # use zippy_lbm::{Problem, Side, Storage, VelocitySet};
    /// let problem = Problem::new(VelocitySet::D3Q19, [8, 6, 5]).sides(2, Side::Wall, Side::Wall);
    /// assert_eq!(problem.words(), [8, 6, 7]);
    /// assert_eq!(problem.storage(Storage::Half).words(), [8, 6, 4]);
    /// ```
    pub fn words(&self) -> [i64; 3] {
        let (lattice, fold) = (self.lattice(), self.fold());
        std::array::from_fn(|axis| if fold == Some(axis) { lattice[axis] / 2 } else { lattice[axis] })
    }
}
