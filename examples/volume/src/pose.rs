//! The camera in the terms of the command line: around the volume, above it, closer.

use zippy_render::volume::{Camera, Projection};

/// Where a camera stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Degrees around the third axis.
    pub azimuth: f64,
    /// Degrees above the plane of the other two.
    pub elevation: f64,
    /// 1 shows the whole box.
    pub zoom: f64,
    /// What is in the middle of the picture; `None`: the middle of what is shown.
    pub focal_point: Option<[f64; 3]>,
}

/// What a camera is to show, and how.
#[derive(Debug, Clone, Copy)]
pub struct Stand {
    /// The corners of the box that is seen whole.
    pub low: [f64; 3],
    pub high: [f64; 3],
    pub parallel: bool,
    /// Degrees between the lowest and the highest ray.
    pub fov: f64,
}

impl Stand {
    /// # Errors
    /// A pose or an angle that is no camera's.
    pub fn camera(&self, pose: &Pose) -> Result<Camera, String> {
        let &Pose { azimuth, elevation, zoom, focal_point } = pose;
        if !(azimuth.is_finite() && (-90.0..=90.0).contains(&elevation) && zoom > 0.0 && zoom.is_finite()) {
            return Err(format!(
                "a camera at azimuth {azimuth}, elevation {elevation} with zoom {zoom}; elevation must be -90 to 90 and \
                 zoom above 0"
            ));
        }
        if !(1.0..=170.0).contains(&self.fov) {
            return Err(format!("a field of view of {} degrees; it must be 1 to 170", self.fov));
        }
        let overview = Camera::overview([2; 3], std::array::from_fn(|axis| self.high[axis] - self.low[axis]));
        let away: [f64; 3] = std::array::from_fn(|axis| overview.position[axis] - overview.focal_point[axis]);
        let far = away.iter().map(|length| length * length).sum::<f64>().sqrt();
        let usual = match overview.projection {
            Projection::Perspective { vertical_fov_degrees } => half(vertical_fov_degrees),
            Projection::Parallel { half_height } => half_height / far,
        };
        // At any angle the volume is as large as at the usual one.
        let (distance, projection) = if self.parallel {
            (far, Projection::Parallel { half_height: far * usual / zoom })
        } else {
            let projection = Projection::Perspective { vertical_fov_degrees: self.fov };
            (far * usual / half(self.fov) / zoom, projection)
        };
        let middle = std::array::from_fn(|axis| self.low[axis] + overview.focal_point[axis]);
        let focal_point = focal_point.unwrap_or(middle);
        let ((sin_a, cos_a), (sin_e, cos_e)) = (azimuth.to_radians().sin_cos(), elevation.to_radians().sin_cos());
        let direction = [cos_e * cos_a, cos_e * sin_a, sin_e];
        Ok(Camera {
            position: std::array::from_fn(|axis| focal_point[axis] + distance * direction[axis]),
            focal_point,
            // Seen from right above or below, "up" is away from where the camera would come down.
            view_up: [-sin_e * cos_a, -sin_e * sin_a, cos_e],
            projection,
        })
    }
}

/// Half the height of a picture at distance 1.
fn half(fov: f64) -> f64 {
    (fov.to_radians() / 2.0).tan()
}
