//! Options of standard cases.

use crate::collision::Collision;
use crate::error::FlowError;
use crate::precision::Precision;
use crate::solids::{Placement, SolidMask, SolidShape};
use crate::velocity_set::VelocitySet;

/// Options of a standard case; cases have defaults for options that are `None` or 0.
#[derive(Debug, Clone, Default)]
pub struct CaseOptions {
    /// Size of the case: cells along each axis, or one number followed by zeros.
    pub n: [i64; 3],
    /// Reynolds number.
    pub reynolds: Option<f64>,
    /// Speed of the Reynolds number, in cells per step.
    pub speed: Option<f64>,
    /// Velocity set.
    pub set: Option<VelocitySet>,
    /// Collision operator.
    pub collision: Option<Collision>,
    /// Smagorinsky constant.
    pub smagorinsky: Option<f64>,
    /// Precision of the populations.
    pub precision: Precision,
    /// Solid of the case "object": see [`CaseOptions::placement`].
    pub solid: Option<SolidMask>,
}

pub(super) struct CaseDefaults {
    pub n: i64,
    pub reynolds: f64,
    pub speed: f64,
}

pub(super) struct CaseNumbers {
    /// First number of the size.
    pub n: i64,
    pub reynolds: f64,
    pub speed: f64,
}

impl CaseNumbers {
    pub(super) fn viscosity(&self, length: f64) -> f64 {
        self.speed * length / self.reynolds
    }
}

impl CaseOptions {
    /// Placement of a shape in the case "object". `longest` is the longest edge of the shape in
    /// cells, by default two fifths of the height of the box.
    pub fn placement(&self, shape: &dyn SolidShape, longest: Option<f64>) -> Placement {
        let extents = self.stream_extents();
        let share = |axis: usize, share: f64| extents[axis] as f64 * share - 0.5;
        shape.fit(longest.unwrap_or(0.4 * extents[1] as f64), [share(0, 0.3), share(1, 0.5), share(2, 0.5)])
    }

    /// Cells along each axis of the box around a body in a stream.
    pub fn stream_extents(&self) -> [i64; 3] {
        match (self.n, self.set) {
            ([0, ..], Some(VelocitySet::D2Q9)) => [160, 80, 1],
            ([0, ..], _) => [160, 80, 80],
            ([n, 0, _], Some(VelocitySet::D2Q9)) => [n, n / 2, 1],
            ([n, 0, _], _) => [n, n / 2, n / 2],
            (n, _) => n,
        }
    }

    pub(super) fn set_in_space(&self) -> VelocitySet {
        self.set.unwrap_or(VelocitySet::D3Q19)
    }

    pub(super) fn set_in_plane(&self) -> VelocitySet {
        self.set.unwrap_or(VelocitySet::D2Q9)
    }

    pub(super) fn n_or(&self, default: i64) -> i64 {
        if self.n[0] == 0 { default } else { self.n[0] }
    }

    pub(super) fn numbers(&self, defaults: CaseDefaults) -> Result<CaseNumbers, FlowError> {
        let positive = |quantity, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(value);
            }
            Err(FlowError::InvalidNumber { quantity, value, requirement: "a finite number above 0" })
        };
        Ok(CaseNumbers {
            n: self.n_or(defaults.n),
            reynolds: positive("the Reynolds number", self.reynolds.unwrap_or(defaults.reynolds))?,
            speed: positive("the speed", self.speed.unwrap_or(defaults.speed))?,
        })
    }

    /// Checks that the size has as many numbers as a case needs; missing numbers are 0.
    pub(super) fn check_size(&self, name: &str, takes_extents: bool) -> Result<(), FlowError> {
        let is_plane = self.set == Some(VelocitySet::D2Q9);
        let is_valid = match self.n {
            [_, 0, 0] => true,
            [x, y, z] => takes_extents && [x, y, z].iter().all(|&n| n != 0),
        };
        if is_valid {
            return Ok(());
        }
        let wanted = match (takes_extents, is_plane) {
            (true, false) => "one number or three, as 160 or 160x80x80",
            (true, true) => "one number or three, the third one 1, as 160 or 160x80x1",
            (false, _) => "one number, as 64",
        };
        let given = self.n.iter().take_while(|&&n| n != 0).map(i64::to_string).collect::<Vec<_>>().join("x");
        Err(FlowError::CaseSize { case: name.to_owned(), given, wanted })
    }
}
