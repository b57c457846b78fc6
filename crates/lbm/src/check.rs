//! Whether a problem can be.

use std::rc::Rc;

use crate::error::FlowError;
use crate::problem::{Collision, Problem, Side, is_open};
use crate::storage::Storage;
use crate::velocities::VelocitySet;

/// The most cells along an axis; coordinates are `i32` on the device.
const MOST: i64 = 1 << 24;

impl Problem {
    /// # Errors
    /// What is wrong with the description.
    pub(crate) fn check(&self) -> Result<(), FlowError> {
        let (plane, extents) = (self.set.axes() == 2, self.extents);
        if extents.iter().any(|&n| !(1..=MOST).contains(&n)) || plane && extents[2] != 1 {
            return Err(FlowError::Extents(extents, MOST));
        }
        for axis in 0..3 {
            let [below, above] = &self.sides[axis];
            if matches!(below, Side::Periodic) != matches!(above, Side::Periodic) {
                return Err(FlowError::Periodic(axis));
            }
        }
        let open: Vec<usize> = (0..3).filter(|&axis| self.sides[axis].iter().any(is_open)).collect();
        if let [first, second, ..] = open[..] {
            return Err(FlowError::Open(first, second));
        }
        if let Some(&axis) = open.iter().find(|&&axis| extents[axis] == 1 && differ(&self.sides[axis])) {
            return Err(FlowError::Thin(axis));
        }
        let lifts = |side: &Side| matches!(side, Side::MovingWall([_, _, z]) if *z != 0.0);
        if plane && (!self.periodic(2) || self.force[2] != 0.0 || self.sides.iter().flatten().any(lifts)) {
            return Err(FlowError::Plane(self.set.name()));
        }
        if self.storage == Storage::Half && self.fold().is_none() {
            return Err(FlowError::Fold(extents));
        }
        let positive = |what, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(FlowError::Number { what, value, wanted: "a finite number above 0" }),
        };
        positive("the viscosity", self.viscosity)?;
        if let Collision::Trt { magic } = self.collision {
            positive("the magic number", magic)?;
        }
        if self.collision == Collision::Cumulant && self.set != VelocitySet::D3Q27 {
            return Err(FlowError::Cumulant(self.set.name()));
        }
        if let Some(constant) = self.smagorinsky {
            positive("Smagorinsky's constant", constant)?;
        }
        for (axis, side) in
            self.sides.iter().enumerate().flat_map(|(axis, sides)| sides.iter().map(move |side| (axis, side)))
        {
            match side {
                Side::Pressure(density) | Side::Outlet(density) => positive("the density at a side", *density)?,
                Side::MovingWall(velocity) => {
                    let across = velocity.iter().enumerate().find(|&(k, u)| !u.is_finite() || *u != 0.0 && k == axis);
                    if let Some((_, &value)) = across {
                        let what = "a component of a moving wall's velocity";
                        let wanted = "finite, and across the wall 0";
                        return Err(FlowError::Number { what, value, wanted });
                    }
                }
                _ => {}
            }
        }
        match self.force.iter().find(|x| !x.is_finite()) {
            Some(&value) => Err(FlowError::Number { what: "the force", value, wanted: "finite" }),
            None => Ok(()),
        }
    }
}

/// Whether two sides are both open and not the same.
fn differ([below, above]: &[Side; 2]) -> bool {
    let same = match (below, above) {
        (Side::Velocity(one), Side::Velocity(other)) => Rc::ptr_eq(one, other),
        (Side::Pressure(one), Side::Pressure(other)) | (Side::Outlet(one), Side::Outlet(other)) => one == other,
        _ => false,
    };
    is_open(below) && is_open(above) && !same
}

#[cfg(test)]
mod tests {
    use crate::problem::{Problem, Side};
    use crate::velocities::VelocitySet;

    #[test]
    fn one_layer_has_one_open_side() {
        let thin = |below: Side, above: Side| {
            Problem::new(VelocitySet::D3Q19, [4, 1, 4]).sides(1, below, above).check().map_err(|e| e.to_string())
        };
        let error = thin(Side::Pressure(1.0), Side::Outlet(1.0)).unwrap_err();
        assert!(error.contains("axis 1 has one cell between two open sides"), "{error}");
        assert!(thin(Side::Pressure(1.0), Side::Pressure(1.1)).is_err());
        assert_eq!(thin(Side::Pressure(1.0), Side::Pressure(1.0)), Ok(()));
        assert_eq!(thin(Side::Wall, Side::Pressure(1.0)), Ok(()));
    }
}
