//! Checks of a problem.

use std::rc::Rc;

use crate::collision::Collision;
use crate::error::FlowError;
use crate::precision::Precision;
use crate::problem::Problem;
use crate::side::Side;
use crate::velocity_set::VelocitySet;

/// Largest number of cells along an axis; coordinates are `i32` on the device.
const MAX_EXTENT: i64 = 1 << 24;

const POSITIVE: &str = "a finite number above 0";

fn check_positive(quantity: &'static str, value: f64) -> Result<(), FlowError> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(FlowError::InvalidNumber { quantity, value, requirement: POSITIVE })
}

impl Problem {
    /// Checks everything except the values of functions.
    pub(crate) fn check(&self) -> Result<(), FlowError> {
        let (is_plane, extents) = (self.set.axes() == 2, self.extents);
        if extents.iter().any(|&n| !(1..=MAX_EXTENT).contains(&n)) || is_plane && extents[2] != 1 {
            return Err(FlowError::InvalidExtents { extents, max: MAX_EXTENT });
        }
        self.check_side_pairs()?;
        let rises = |side: &Side| matches!(side, Side::MovingWall([_, _, z]) if *z != 0.0);
        if is_plane && (!self.is_periodic(2) || self.force[2] != 0.0 || self.sides.iter().flatten().any(rises)) {
            return Err(FlowError::ThirdDimension { set: self.set.name() });
        }
        if self.precision == Precision::Half && self.fold_axis().is_none() {
            return Err(FlowError::NoFoldAxis { extents });
        }
        self.check_fluid()?;
        for (axis, sides) in self.sides.iter().enumerate() {
            sides.iter().try_for_each(|side| check_side_value(axis, side))?;
        }
        match self.force.iter().find(|x| !x.is_finite()) {
            Some(&value) => Err(FlowError::InvalidNumber { quantity: "the force", value, requirement: "finite" }),
            None => Ok(()),
        }
    }

    fn check_side_pairs(&self) -> Result<(), FlowError> {
        for (axis, [below, above]) in self.sides.iter().enumerate() {
            if matches!(below, Side::Periodic) != matches!(above, Side::Periodic) {
                return Err(FlowError::OnePeriodicSide { axis });
            }
        }
        let open: Vec<usize> = (0..3).filter(|&axis| self.sides[axis].iter().any(Side::is_open)).collect();
        if let [first, second, ..] = open[..] {
            return Err(FlowError::OpenSidesMeet { axes: [first, second] });
        }
        let is_conflict = |axis: &&usize| self.extents[**axis] == 1 && are_different_open_sides(&self.sides[**axis]);
        match open.iter().find(is_conflict) {
            Some(&axis) => Err(FlowError::OpenSidesTooClose { axis }),
            None => Ok(()),
        }
    }

    fn check_fluid(&self) -> Result<(), FlowError> {
        check_positive("the viscosity", self.viscosity)?;
        if let Collision::Trt { magic } = self.collision {
            check_positive("the magic number", magic)?;
        }
        if self.collision == Collision::Cumulant && self.set != VelocitySet::D3Q27 {
            return Err(FlowError::CumulantVelocitySet { set: self.set.name() });
        }
        self.smagorinsky.map_or(Ok(()), |constant| check_positive("Smagorinsky's constant", constant))
    }
}

fn check_side_value(axis: usize, side: &Side) -> Result<(), FlowError> {
    match side {
        Side::Pressure(density) | Side::Outlet(density) => check_positive("the density at a side", *density),
        Side::MovingWall(velocity) => {
            let is_invalid = |&(k, u): &(usize, &f64)| !u.is_finite() || *u != 0.0 && k == axis;
            match velocity.iter().enumerate().find(is_invalid) {
                Some((_, &value)) => Err(FlowError::InvalidNumber {
                    quantity: "a component of a moving wall's velocity",
                    value,
                    requirement: "finite, and across the wall 0",
                }),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn are_different_open_sides([below, above]: &[Side; 2]) -> bool {
    let is_same = match (below, above) {
        (Side::Velocity(below), Side::Velocity(above)) => Rc::ptr_eq(below, above),
        (Side::Pressure(below), Side::Pressure(above)) | (Side::Outlet(below), Side::Outlet(above)) => below == above,
        _ => false,
    };
    below.is_open() && above.is_open() && !is_same
}

#[cfg(test)]
mod tests {
    use crate::problem::Problem;
    use crate::side::Side;
    use crate::velocity_set::VelocitySet;

    #[test]
    fn one_layer_with_two_different_open_sides_is_an_error() {
        let check = |below: Side, above: Side| {
            Problem::new(VelocitySet::D3Q19, [4, 1, 4]).sides(1, below, above).check().map_err(|e| e.to_string())
        };
        let error = check(Side::Pressure(1.0), Side::Outlet(1.0)).unwrap_err();
        assert!(error.contains("axis 1 has one cell between two open sides"), "{error}");
        assert!(check(Side::Pressure(1.0), Side::Pressure(1.1)).is_err());
        assert_eq!(check(Side::Pressure(1.0), Side::Pressure(1.0)), Ok(()));
        assert_eq!(check(Side::Wall, Side::Pressure(1.0)), Ok(()));
    }
}
