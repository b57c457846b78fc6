//! The box of cells for a solid.

/// Box of cells for a solid, and rules for its cells.
///
/// A cell is solid if its centre is inside the shape. A centre exactly on the surface counts as the
/// point next to it in the direction of larger coordinates: a box of n cells has n layers at any
/// position, and shapes that share a face share no cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VoxelizationBox {
    /// Cells along each axis.
    pub cells: [i64; 3],
    /// Periodic axes: parts of the shape that leave the box at one side enter at the other.
    pub periodic: [bool; 3],
    /// True for a flow in the plane: the third axis has one layer of cells.
    pub is_plane: bool,
    /// Makes the cells solid that the surface passes through: thin parts have at least one layer of
    /// cells without holes, and the shape grows by at most half a cell.
    pub thicken: bool,
}

impl From<[i64; 3]> for VoxelizationBox {
    fn from(cells: [i64; 3]) -> Self {
        Self { cells, periodic: [false; 3], is_plane: false, thicken: false }
    }
}

impl VoxelizationBox {
    /// Cells of a period along each periodic axis. The third axis of a plane is not periodic.
    pub(super) fn periods(&self) -> [Option<i64>; 3] {
        std::array::from_fn(|axis| {
            (self.periodic[axis] && !(self.is_plane && axis == 2)).then_some(self.cells[axis].max(1))
        })
    }

    /// Warnings about axes along which sides of the box cut off a shape from `low` to `high`, in
    /// cells.
    pub(super) fn cut_warnings(&self, [low, high]: [[f64; 3]; 2]) -> Vec<String> {
        /// Rounding errors of placements, in cells.
        const ROUNDING: f64 = 1e-3;
        let periods = self.periods();
        let lost = |axis: usize| {
            let end = self.cells[axis] as f64 - 0.5;
            (-0.5 - low[axis]).max(0.0) + (high[axis] - end).max(0.0)
        };
        let has_sides = |axis: &usize| periods[*axis].is_none() && !(self.is_plane && *axis == 2);
        let warning = |axis: usize| {
            let (from, to, cells, lost) = (low[axis] + 0.5, high[axis] + 0.5, self.cells[axis], lost(axis));
            format!(
                "along axis {axis} the shape reaches from {from:.2} to {to:.2} cells and the box from 0 to {cells}: {lost:.2} \
                 cells of it are cut off at its sides, which are not periodic"
            )
        };
        (0..3).filter(has_sides).filter(|&axis| lost(axis) > ROUNDING).map(warning).collect()
    }
}
