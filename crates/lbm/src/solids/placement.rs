//! Size and position of a shape among the cells.

use super::solid_error::SolidError;
use super::voxelization_box::VoxelizationBox;
use crate::error::FlowError;

/// Size and position of a shape in the box. Cell 0 has its centre at 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Cells per unit of the shape.
    pub scale: f64,
    /// Position of the centre of the shape's bounds, in cells.
    pub centre: [f64; 3],
}

/// Relative offsets along the axes: the point next to a cell centre is on no diagonal of a
/// triangle.
const OBLIQUE_OFFSETS: [f64; 3] = [1.0, 0.7548776662, 0.5698402910];

/// Largest number of periods of the box that a shape covers along an axis.
const MAX_PERIODS: f64 = 4.0;

const MAX_DISTANCE: f64 = i32::MAX as f64;

/// Cells around a shape, and the points at which they are classified.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellWindow {
    pub start: [i64; 3],
    pub extents: [i64; 3],
    /// Position of the classified point of a cell relative to its centre, in cells: larger than
    /// rounding errors of 32-bit coordinates.
    pub offset: [f64; 3],
}

impl CellWindow {
    /// Length above all rounding errors of a surface, in cells.
    pub(super) fn tolerance(&self) -> f64 {
        2.0 * self.offset[0]
    }
}

impl Placement {
    /// Coordinates of a shape with these bounds at the classified point of a cell.
    pub(super) fn shape_point(&self, [low, high]: &[[f64; 3]; 2], window: &CellWindow, cell: [i64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let distance = cell[axis] as f64 - self.centre[axis] + window.offset[axis];
            0.5 * (low[axis] + high[axis]) + distance / self.scale
        })
    }

    /// Position of a point of the shape in cells, with classified points at whole numbers: the
    /// inverse of [`shape_point`](Self::shape_point).
    pub(super) fn cell_point(&self, [low, high]: &[[f64; 3]; 2], window: &CellWindow, point: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let distance = (point[axis] - 0.5 * (low[axis] + high[axis])) * self.scale;
            self.centre[axis] - window.offset[axis] + distance
        })
    }

    pub(super) fn bounds_in_cells(&self, [low, high]: &[[f64; 3]; 2]) -> [[f64; 3]; 2] {
        let half = |axis: usize| 0.5 * (high[axis] - low[axis]) * self.scale;
        [-1.0, 1.0].map(|sign| std::array::from_fn(|axis| self.centre[axis] + sign * half(axis)))
    }

    /// Cells with centres between the bounds of a shape or, if the box thickens, cells that touch
    /// the bounds; along periodic axes possibly outside of the box. `largest` is the largest
    /// coordinate that the shape keeps in 32 bits.
    pub(super) fn window(
        &self,
        bounds: &[[f64; 3]; 2],
        voxelization_box: &VoxelizationBox,
        largest: f64,
    ) -> Result<CellWindow, FlowError> {
        self.check()?;
        let offset = (4.0 * f64::from(f32::EPSILON) * largest * self.scale).clamp(1e-6, 1e-2);
        let mut window =
            CellWindow { start: [0; 3], extents: [0; 3], offset: OBLIQUE_OFFSETS.map(|share| share * offset) };
        let (periods, [low, high]) = (voxelization_box.periods(), self.bounds_in_cells(bounds));
        let margin = window.tolerance() + if voxelization_box.thicken { 0.5 } else { 0.0 };
        for axis in 0..3 {
            let last = (voxelization_box.cells[axis] - 1) as f64;
            if let Some(period) = periods[axis] {
                self.check_periodic(axis, period, [low[axis], high[axis]])?;
            }
            let [first, end] = match periods[axis] {
                Some(_) => [f64::from(i32::MIN), f64::from(i32::MAX)],
                None => [0.0, last],
            };
            // Clamped, because a conversion to an integer saturates.
            window.start[axis] = (low[axis] - margin).ceil().clamp(first, end + 1.0) as i64;
            let end = (high[axis] + margin).floor().clamp(first - 1.0, end) as i64 + 1;
            window.extents[axis] = (end - window.start[axis]).max(0);
            if window.extents[axis] == 0 {
                let (low, high, cells) = (low[axis], high[axis], voxelization_box.cells[axis]);
                let is_between_cells = periods[axis].is_some() || low > -0.5 && high < last + 0.5;
                // Users count from the corner of the box, half a cell from the centre of cell 0.
                let (low, high) = (low + 0.5, high + 0.5);
                let error = if is_between_cells {
                    SolidError::BetweenCells { axis, low, high }
                } else {
                    SolidError::OutsideBox { axis, low, high, cells }
                };
                return Err(error.into());
            }
        }
        Ok(window)
    }

    fn check(&self) -> Result<(), FlowError> {
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            return Err(FlowError::InvalidNumber {
                quantity: "the number of cells for a unit of a shape",
                value: self.scale,
                requirement: "a finite number above 0",
            });
        }
        match self.centre.iter().find(|x| !x.is_finite()) {
            Some(&value) => {
                Err(FlowError::InvalidNumber { quantity: "the centre of a shape", value, requirement: "finite" })
            }
            None => Ok(()),
        }
    }

    /// Checks the position of a shape along a periodic axis. Each cell of the shape costs work, and
    /// images add no cells after the first period.
    fn check_periodic(&self, axis: usize, period: i64, [low, high]: [f64; 2]) -> Result<(), SolidError> {
        let scale = self.scale;
        if high - low > MAX_PERIODS * period as f64 {
            return Err(SolidError::TooManyPeriods { axis, low, high, max_periods: MAX_PERIODS, period, scale });
        }
        if low < -MAX_DISTANCE || high > MAX_DISTANCE {
            return Err(SolidError::TooFar { axis, low, high, max_distance: MAX_DISTANCE, scale });
        }
        Ok(())
    }
}
