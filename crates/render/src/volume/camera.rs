//! Camera and projection.

use serde::{Deserialize, Serialize};
use zippy::Grid;

use super::view::diagonal;
use crate::error::RenderError;

/// Projection of an image.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Projection {
    /// All rays start at the camera's position.
    Perspective {
        /// Angle between the lowest and the highest ray, in degrees.
        vertical_fov_degrees: f64,
    },
    /// All rays are parallel to the view direction.
    Parallel {
        /// Half of the image height, in the volume's unit of length.
        half_height: f64,
    },
}

/// Camera, in the space of the volume's grid and of meshes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Position of the camera. Only objects in front of it are visible.
    pub position: [f64; 3],
    /// Point in the middle of the image.
    pub focal_point: [f64; 3],
    /// Up direction of the image; need not be perpendicular to the view direction.
    pub view_up: [f64; 3],
    /// Perspective or parallel.
    pub projection: Projection,
}

/// Orthonormal, right-handed axes of a camera.
pub(super) struct CameraAxes {
    pub forward: [f64; 3],
    pub right: [f64; 3],
    pub up: [f64; 3],
}

impl Camera {
    /// Camera with a view of a whole volume of `shape` voxels on a grid, from above, front and
    /// right.
    pub fn overview(shape: [i64; 3], grid: impl Into<Grid>) -> Self {
        let grid = grid.into();
        let size: [f64; 3] = std::array::from_fn(|axis| (shape[axis] - 1).max(1) as f64 * grid.spacing[axis]);
        let middle = grid.vector(size.map(|length| length / 2.0));
        let focal_point = std::array::from_fn(|row| grid.origin[row] + middle[row]);
        let distance = 1.3 * diagonal(&grid.directions, |axis| size[axis]);
        let direction = [0.6, -0.64, 0.48];
        Self {
            position: std::array::from_fn(|axis| focal_point[axis] + direction[axis] * distance),
            focal_point,
            view_up: [0.0, 0.0, 1.0],
            projection: Projection::Perspective { vertical_fov_degrees: 40.0 },
        }
    }

    /// Axes of the camera.
    pub(super) fn frame(&self) -> Result<CameraAxes, RenderError> {
        let numbers = [self.position, self.focal_point, self.view_up];
        if !numbers.as_flattened().iter().all(|v| v.is_finite()) {
            return Err(RenderError::Camera(format!("position, focal point and view-up must be finite: {self:?}")));
        }
        let towards = std::array::from_fn(|axis| self.focal_point[axis] - self.position[axis]);
        let reach = largest(self.position).max(largest(self.focal_point));
        let forward = unit(towards, reach).ok_or_else(|| {
            RenderError::Camera(format!("the position equals the focal point {:?}", self.focal_point))
        })?;
        let right = unit(cross(forward, self.view_up), largest(self.view_up)).ok_or_else(|| {
            RenderError::Camera(format!("view-up {:?} is zero or lies along the direction of view", self.view_up))
        })?;
        Ok(CameraAxes { forward, right, up: cross(right, forward) })
    }

    /// Half of the image height: at distance 1 (perspective) or at any distance (parallel).
    pub(super) fn half_height(&self) -> Result<f64, RenderError> {
        match self.projection {
            Projection::Perspective { vertical_fov_degrees: fov } if fov > 0.0 && fov < 180.0 => {
                Ok((fov.to_radians() / 2.0).tan())
            }
            Projection::Perspective { vertical_fov_degrees } => {
                let message =
                    format!("a vertical field of view of {vertical_fov_degrees} degrees; it must be 0 to 180");
                Err(RenderError::Camera(message))
            }
            Projection::Parallel { half_height } if half_height > 0.0 && half_height.is_finite() => Ok(half_height),
            Projection::Parallel { half_height } => {
                Err(RenderError::Camera(format!("a half-height of {half_height}; it must be positive")))
            }
        }
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn largest(v: [f64; 3]) -> f64 {
    v.iter().fold(0.0_f64, |most, part| most.max(part.abs()))
}

/// Normalises a vector. `None` for the difference of numbers of up to `size` with a length within
/// rounding error.
fn unit(v: [f64; 3], size: f64) -> Option<[f64; 3]> {
    let scale = largest(v);
    if scale <= 1e-12 * size || !scale.is_finite() {
        return None;
    }
    let v = v.map(|x| x / scale);
    let length = dot(v, v).sqrt();
    Some(v.map(|x| x / length))
}
