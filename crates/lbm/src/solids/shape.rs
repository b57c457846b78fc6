//! What can become solid cells, and where it stands.

use zippy::{Result, World};

use super::bits::Solid;
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

    /// The cells of a box of so many cells whose middles are inside the shape. What leaves the box is not there. Each rank
    /// looks at its share of the cells, and all know all of them then: a bit for each cell of the shape's own box. Collective.
    ///
    /// # Errors
    /// The same on every rank: a placement that is none, no cell that is solid, what a file says.
    fn solid(&self, world: &World, placement: &Placement, extents: [i64; 3]) -> Result<Solid>;

    /// The placement in which the longest edge of its box is so many cells, around a middle.
    fn placed(&self, longest: f64, middle: [f64; 3]) -> Placement {
        let [low, high] = self.bounds();
        let edge = (0..3).map(|axis| high[axis] - low[axis]).fold(0.0, f64::max);
        Placement { scale: longest / edge, middle }
    }
}

impl Placement {
    /// The coordinates of a shape, with these bounds, at the middle of a cell.
    pub(super) fn at(&self, [low, high]: &[[f64; 3]; 2], place: [i64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            0.5 * (low[axis] + high[axis]) + (place[axis] as f64 - self.middle[axis]) / self.scale
        })
    }

    /// The cells of a box whose middles are between the bounds: the first one and how many along each axis.
    ///
    /// # Errors
    /// It is no placement; there are no such cells.
    pub(super) fn cells(
        &self,
        [low, high]: &[[f64; 3]; 2],
        extents: [i64; 3],
    ) -> std::result::Result<[[i64; 3]; 2], FlowError> {
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
        let (mut start, mut count) = ([0; 3], [0; 3]);
        for axis in 0..3 {
            let half = 0.5 * (high[axis] - low[axis]) * self.scale;
            let last = (extents[axis] - 1) as f64;
            // Conversions to integers end at the largest one.
            start[axis] = (self.middle[axis] - half).ceil().clamp(0.0, last + 1.0) as i64;
            let end = (self.middle[axis] + half).floor().clamp(-1.0, last) as i64 + 1;
            count[axis] = (end - start[axis]).max(0);
            if count[axis] == 0 {
                let (low, high) = (self.middle[axis] - half, self.middle[axis] + half);
                return Err(FlowError::Solid(format!(
                    "along axis {axis} it reaches from {low:.3} to {high:.3} cells, where the box of {} cells has no middle \
                     of a cell; it must stand in the box and be larger than a cell",
                    extents[axis]
                )));
            }
        }
        Ok([start, count])
    }
}
