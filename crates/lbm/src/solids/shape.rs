//! What can become solid cells, and where it stands.

use zippy::{Result, World};

use super::bits::Solid;
use super::room::Room;
use crate::error::FlowError;

/// Where a shape stands in the box: cell 0 has its middle at 0, as everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Cells for each unit of the shape's own lengths.
    pub scale: f64,
    /// The place of the middle of its box, in cells.
    pub middle: [f64; 3],
}

/// What can become solid cells.
pub trait Shape {
    /// The least and the greatest coordinate along each axis, in the shape's own unit.
    fn bounds(&self) -> [[f64; 3]; 2];

    /// The cells of a box with their middles inside the shape, by the rules of [`Room`]. Parts that
    /// leave the box at a side that is not periodic are cut off, and [`Solid::warnings`] say so.
    /// Each rank classifies its share of the cells, and all know all of them then: a bit for each
    /// cell of the shape's own box. Collective.
    ///
    /// # Errors
    /// The same on every rank: a placement that is none, no cell that is solid, what a file says.
    fn solid(&self, world: &World, placement: &Placement, room: &Room) -> Result<Solid>;

    /// The placement in which the longest edge of its box is so many cells, around a middle.
    fn placed(&self, longest: f64, middle: [f64; 3]) -> Placement {
        let [low, high] = self.bounds();
        let edge = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
        Placement { scale: longest / edge, middle }
    }
}

/// Shares of the offset along each axis: the point next to a middle lies on no diagonal of a
/// triangle.
const OBLIQUE: [f64; 3] = [1.0, 0.7548776662, 0.5698402910];

/// Most periods of the box that a shape covers along an axis.
const MOST_PERIODS: f64 = 4.0;

/// A box of cells around a shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub start: [i64; 3],
    pub count: [i64; 3],
    /// Position of a cell's point from its middle, in cells: more than coordinates of 32 bits are
    /// rounded by.
    pub offset: [f64; 3],
}

impl Window {
    /// A length, in cells, above all rounding errors of a surface.
    pub fn tolerance(&self) -> f64 {
        2.0 * self.offset[0]
    }
}

impl Placement {
    /// The coordinates of a shape, with these bounds, at the point of a cell.
    pub(super) fn at(&self, [low, high]: &[[f64; 3]; 2], window: &Window, place: [i64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let far = place[axis] as f64 - self.middle[axis] + window.offset[axis];
            0.5 * (low[axis] + high[axis]) + far / self.scale
        })
    }

    /// A point of a shape in cells, so that the points of cells are at whole numbers: the inverse
    /// of [`at`](Self::at).
    pub(super) fn in_cells(&self, [low, high]: &[[f64; 3]; 2], window: &Window, point: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let far = (point[axis] - 0.5 * (low[axis] + high[axis])) * self.scale;
            self.middle[axis] - window.offset[axis] + far
        })
    }

    /// From where to where a shape is in cells.
    pub(super) fn reach(&self, [low, high]: &[[f64; 3]; 2]) -> [[f64; 3]; 2] {
        let half = |axis: usize| 0.5 * (high[axis] - low[axis]) * self.scale;
        [-1.0, 1.0].map(|sign| std::array::from_fn(|axis| self.middle[axis] + sign * half(axis)))
    }

    /// The cells that may be those of a shape with these bounds: between them or, where it
    /// thickens, touched by them. Along periodic axes they may leave the box. `largest` is the
    /// largest coordinate that is kept in 32 bits.
    ///
    /// # Errors
    /// It is no placement; there are no such cells.
    pub(super) fn window(
        &self,
        bounds: &[[f64; 3]; 2],
        room: &Room,
        largest: f64,
    ) -> std::result::Result<Window, FlowError> {
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            let wanted = "a finite number above 0";
            return Err(FlowError::Number {
                what: "the number of cells for a unit of a shape",
                value: self.scale,
                wanted,
            });
        }
        if let Some(&value) = self.middle.iter().find(|x| !x.is_finite()) {
            return Err(FlowError::Number { what: "the middle of a shape", value, wanted: "finite" });
        }
        let offset = (4.0 * f64::from(f32::EPSILON) * largest * self.scale).clamp(1e-6, 1e-2);
        let mut window = Window { start: [0; 3], count: [0; 3], offset: OBLIQUE.map(|share| share * offset) };
        let (periods, [low, high]) = (room.periods(), self.reach(bounds));
        let margin = window.tolerance() + if room.thicken { 0.5 } else { 0.0 };
        for axis in 0..3 {
            let last = (room.cells[axis] - 1) as f64;
            if let Some(period) = periods[axis] {
                self.check_periodic(axis, period, [low[axis], high[axis]])?;
            }
            // Conversions to integers end at the largest one.
            let [first, end] = match periods[axis] {
                Some(_) => [f64::from(i32::MIN), f64::from(i32::MAX)],
                None => [0.0, last],
            };
            window.start[axis] = (low[axis] - margin).ceil().clamp(first, end + 1.0) as i64;
            let end = (high[axis] + margin).floor().clamp(first - 1.0, end) as i64 + 1;
            window.count[axis] = (end - window.start[axis]).max(0);
            if window.count[axis] == 0 {
                let (low, high, cells) = (low[axis], high[axis], room.cells[axis]);
                let is_between = periods[axis].is_some() || low > -0.5 && high < last + 0.5;
                // Case files count from the corner, half a cell from the middle of cell 0.
                let (low, high) = (low + 0.5, high + 0.5);
                return Err(FlowError::Solid(match is_between {
                    true => format!(
                        "along axis {axis} it reaches from {low:.3} to {high:.3} cells from the corner of the box, between the \
                         middles of cells: take smaller cells, or thicken it"
                    ),
                    false => format!(
                        "along axis {axis} it reaches from {low:.3} to {high:.3} cells from the corner of the box, outside of the \
                         box of {cells} cells; it must stand in the box"
                    ),
                }));
            }
        }
        Ok(window)
    }

    /// Refuses a shape, from `low` to `high` in cells, that covers many periods of an axis or is
    /// far from the box: each of its cells costs work, and images add no cells after the first
    /// period.
    fn check_periodic(&self, axis: usize, period: i64, [low, high]: [f64; 2]) -> std::result::Result<(), FlowError> {
        let far = f64::from(i32::MAX);
        let wrong = if high - low > MOST_PERIODS * period as f64 {
            format!("more than {MOST_PERIODS} periods of {period} cells: give it a smaller size, or a smaller unit")
        } else if low < -far || high > far {
            format!("more than {far} cells from the box: give it a centre in the box, or a smaller unit")
        } else {
            return Ok(());
        };
        Err(FlowError::Solid(format!(
            "along the periodic axis {axis} it reaches from {low:.3} to {high:.3} cells, {wrong}; one unit of the shape is {} \
             cells now",
            self.scale
        )))
    }
}
