//! Conditions at the sides of the box.

use std::rc::Rc;

use crate::cell_index::CellIndex;

/// Condition at one side of the box.
#[derive(Clone, Default)]
pub enum Side {
    /// Periodic: the fluid continues at the opposite side.
    #[default]
    Periodic,
    /// Wall at rest, half a cell beyond the outermost cells.
    Wall,
    /// Wall, half a cell beyond the outermost cells, that moves along itself with this velocity in
    /// cells per step.
    MovingWall([f64; 3]),
    /// Plane of symmetry, half a cell beyond the outermost cells: no fluid passes, and no friction
    /// acts. Bodies that reach the plane continue beyond it.
    FreeSlip,
    /// Open side with a velocity for each of the outermost cells, in cells per step, below 1.
    Velocity(Rc<dyn Fn(CellIndex) -> [f64; 3]>),
    /// Open side with a density, which is 3 × pressure, in the outermost cells. Fluid passes
    /// perpendicularly.
    Pressure(f64),
    /// Open side through which fluid and sound waves leave. The density tends to this value, in
    /// about ten times the length of the box in steps. Cells without a fluid neighbour inside (one
    /// or two cells along the axis, or a body at the side) act like `Pressure`.
    Outlet(f64),
}

impl Side {
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Velocity(_) | Self::Pressure(_) | Self::Outlet(_))
    }
}
