//! [`Grid`]: where the samples stand.

use crate::error::IsosurfaceError;

/// Where the samples of a field stand in space: sample `(i, j, k)` at `origin + i * steps[0] + j * steps[1] + k *
/// steps[2]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Where the first sample stands.
    pub origin: [f64; 3],
    /// From each sample to the next along each axis: direction times spacing.
    pub steps: [[f64; 3]; 3],
}

impl Default for Grid {
    /// Positions are indices.
    fn default() -> Self {
        Self::new([0.0; 3], [1.0; 3])
    }
}

impl Grid {
    /// A grid along the axes of space.
    pub const fn new(origin: [f64; 3], spacing: [f64; 3]) -> Self {
        let [x, y, z] = spacing;
        Self { origin, steps: [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]] }
    }

    /// # Errors
    /// Steps that are not finite or lie in a plane.
    pub(crate) fn check(&self) -> Result<(), IsosurfaceError> {
        let finite = self.origin.iter().chain(self.steps.as_flattened()).all(|number| number.is_finite());
        if finite && self.volume() != 0.0 {
            return Ok(());
        }
        let problem = if finite { "its steps lie in a plane" } else { "it has numbers that are not finite" };
        Err(IsosurfaceError::Grid(format!("{problem}: origin {:?}, steps {:?}", self.origin, self.steps)))
    }

    /// Where an index, which need not be whole, stands in space.
    pub fn position(&self, index: [f64; 3]) -> [f32; 3] {
        std::array::from_fn(|row| {
            let along = (0..3).map(|axis| index[axis] * self.steps[axis][row]);
            (self.origin[row] + along.sum::<f64>()) as f32
        })
    }

    /// Whether its axes are left-handed, so that what runs counterclockwise in indices runs clockwise in space.
    pub(crate) fn is_mirrored(&self) -> bool {
        self.volume() < 0.0
    }

    /// The unit vector against a gradient, which is given in values per index; zero for a gradient of zero.
    pub(crate) fn normal(&self, gradient: [f64; 3]) -> [f32; 3] {
        let sign = self.volume().signum();
        // By the matrix of cofactors, which is the inverse transposed but for a factor.
        let normals: [[f64; 3]; 3] =
            std::array::from_fn(|axis| cross(self.steps[(axis + 1) % 3], self.steps[(axis + 2) % 3]));
        let down: [f64; 3] =
            std::array::from_fn(|row| -sign * (0..3).map(|axis| gradient[axis] * normals[axis][row]).sum::<f64>());
        let length = down.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 && length.is_finite() { down.map(|x| (x / length) as f32) } else { [0.0; 3] }
    }

    /// The volume of a cell, negative if the axes are left-handed.
    fn volume(&self) -> f64 {
        let across = cross(self.steps[1], self.steps[2]);
        (0..3).map(|row| self.steps[0][row] * across[row]).sum()
    }
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
