//! [`SampleFrame`]: affine map from sample indices to positions. In kernels: `shaders/grid.wgsl`.

use zippy::Grid;

use crate::error::IsosurfaceError;

/// Affine map from sample indices to positions, of a validated grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SampleFrame {
    pub origin: [f64; 3],
    /// Vectors between consecutive samples along each axis.
    pub steps: [[f64; 3]; 3],
}

impl SampleFrame {
    /// Checks the grid.
    ///
    /// # Errors
    /// A grid without distinct positions of the samples; a corner of the field outside the range of
    /// `f32`.
    pub(crate) fn new(grid: &Grid, shape: [i64; 3]) -> Result<Self, IsosurfaceError> {
        grid.check()?;
        let frame = Self { origin: grid.origin, steps: grid.steps() };
        for corner in 0..8 {
            let index = std::array::from_fn(|axis| if corner >> axis & 1 == 1 { shape[axis] as f64 } else { 0.0 });
            if !frame.position(index).iter().all(|x| x.is_finite()) {
                return Err(IsosurfaceError::Far(*grid));
            }
        }
        Ok(frame)
    }

    /// Position of an index, which may be fractional.
    pub(crate) fn position(&self, index: [f64; 3]) -> [f32; 3] {
        std::array::from_fn(|row| {
            let along = (0..3).map(|axis| index[axis] * self.steps[axis][row]);
            (self.origin[row] + along.sum::<f64>()) as f32
        })
    }

    /// True if the axes are left-handed, which reverses the orientation of triangles.
    pub(crate) fn is_mirrored(&self) -> bool {
        volume(&self.steps) < 0.0
    }

    /// Matrix that maps a gradient per index to a multiple of the normal in space, towards lower
    /// values.
    pub(crate) fn normals(&self) -> [[f32; 3]; 3] {
        let (normals, sign) = (self.cofactors(), volume(&self.steps).signum());
        let most = normals.as_flattened().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        normals.map(|normal| normal.map(|x| (-sign * x / most) as f32))
    }

    /// Matrix of cofactors: a multiple of the transposed inverse.
    fn cofactors(&self) -> [[f64; 3]; 3] {
        std::array::from_fn(|axis| cross(self.steps[(axis + 1) % 3], self.steps[(axis + 2) % 3]))
    }

    /// Unit vector in space towards lower values for a gradient per index; zero for a zero
    /// gradient.
    pub(crate) fn normal(&self, gradient: [f64; 3]) -> [f32; 3] {
        let (normals, sign) = (self.cofactors(), volume(&self.steps).signum());
        let down: [f64; 3] =
            std::array::from_fn(|row| -sign * (0..3).map(|axis| gradient[axis] * normals[axis][row]).sum::<f64>());
        let length = down.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 0.0 && length.is_finite() { down.map(|x| (x / length) as f32) } else { [0.0; 3] }
    }
}

/// Volume of a cell, negative if the axes are left-handed.
fn volume(steps: &[[f64; 3]; 3]) -> f64 {
    let across = cross(steps[1], steps[2]);
    (0..3).map(|row| steps[0][row] * across[row]).sum()
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
