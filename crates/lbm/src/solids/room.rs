//! The box of cells that takes a solid in.

/// Box of cells that takes a solid in, and the rules for it.
///
/// A cell is solid where its middle is inside the shape. A middle exactly on the surface counts as
/// the point next to it towards larger coordinates: so a box of n cells has n layers wherever its
/// faces are, and two shapes that share a face share no cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Room {
    /// Cells along each axis.
    pub cells: [i64; 3],
    /// Axes along which the box repeats: a part of the shape that leaves it at one side comes in at
    /// the other.
    pub periodic: [bool; 3],
    /// Whether the flow is in a plane: the third axis has one layer of cells.
    pub is_plane: bool,
    /// Whether cells that the surface passes through are solid, too: thin parts then have one layer
    /// of cells at least and no holes, and the shape grows by half a cell at most.
    pub thicken: bool,
}

impl From<[i64; 3]> for Room {
    /// A box without periodic sides, for shapes as they are.
    fn from(cells: [i64; 3]) -> Self {
        Self { cells, periodic: [false; 3], is_plane: false, thicken: false }
    }
}

impl Room {
    /// The number of cells after which the box repeats along each axis. The third axis of a plane
    /// does not.
    pub(super) fn periods(&self) -> [Option<i64>; 3] {
        std::array::from_fn(|axis| {
            (self.periodic[axis] && !(self.is_plane && axis == 2)).then_some(self.cells[axis].max(1))
        })
    }

    /// Axes along which the sides of the box cut a shape, from `low` to `high` in cells, with the
    /// length that is lost.
    pub(super) fn cuts(&self, [low, high]: [[f64; 3]; 2]) -> Vec<(usize, f64)> {
        /// Rounding errors of placements, in cells.
        const ROUNDED: f64 = 1e-3;
        let periods = self.periods();
        let lost = |axis: usize| {
            let end = self.cells[axis] as f64 - 0.5;
            (-0.5 - low[axis]).max(0.0) + (high[axis] - end).max(0.0)
        };
        let across = (0..3).filter(|&axis| periods[axis].is_none() && !(self.is_plane && axis == 2));
        across.map(|axis| (axis, lost(axis))).filter(|&(_, lost)| lost > ROUNDED).collect()
    }
}

/// Warnings of a shape, from where to where it is in cells, that sides of the box cut.
pub(super) fn cut_off(room: &Room, [low, high]: [[f64; 3]; 2]) -> Vec<String> {
    let cuts = room.cuts([low, high]).into_iter();
    let warning = |(axis, lost): (usize, f64)| {
        let (from, to, cells) = (low[axis] + 0.5, high[axis] + 0.5, room.cells[axis]);
        format!(
            "along axis {axis} the shape reaches from {from:.2} to {to:.2} cells and the box from 0 to {cells}: {lost:.2} cells of it \
             are cut off at its sides, which are not periodic"
        )
    };
    cuts.map(warning).collect()
}
