//! Camera poses: azimuth, elevation and zoom.

use zippy_render::volume::{Camera, Projection};

/// Position of a camera relative to its focal point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Angle around the third axis in degrees.
    pub azimuth: f64,
    /// Angle above the plane of the first two axes in degrees.
    pub elevation: f64,
    /// Magnification; 1 shows the whole box.
    pub zoom: f64,
    /// Point in the middle of the picture; `None`: the middle of the box.
    pub focal_point: Option<[f64; 3]>,
}

/// Box that cameras show, and their projection.
#[derive(Debug, Clone, Copy)]
pub struct Framing {
    /// Lower corner of the box that fits the picture at zoom 1.
    pub low: [f64; 3],
    /// Upper corner of the box.
    pub high: [f64; 3],
    pub is_parallel: bool,
    /// Vertical angle of view in degrees.
    pub fov: f64,
}

impl Framing {
    /// Returns the camera at a pose.
    ///
    /// # Errors
    /// The pose or the angle of view is out of range.
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
        let overview_distance = away.iter().map(|length| length * length).sum::<f64>().sqrt();
        let overview_slope = match overview.projection {
            Projection::Perspective { vertical_fov_degrees } => half_height_at_1(vertical_fov_degrees),
            Projection::Parallel { half_height } => half_height / overview_distance,
        };
        // The distance compensates the angle of view, so that the volume keeps its size.
        let (distance, projection) = if self.is_parallel {
            (overview_distance, Projection::Parallel { half_height: overview_distance * overview_slope / zoom })
        } else {
            let projection = Projection::Perspective { vertical_fov_degrees: self.fov };
            (overview_distance * overview_slope / half_height_at_1(self.fov) / zoom, projection)
        };
        let middle = std::array::from_fn(|axis| self.low[axis] + overview.focal_point[axis]);
        let focal_point = focal_point.unwrap_or(middle);
        let ((sin_a, cos_a), (sin_e, cos_e)) = (azimuth.to_radians().sin_cos(), elevation.to_radians().sin_cos());
        let direction = [cos_e * cos_a, cos_e * sin_a, sin_e];
        Ok(Camera {
            position: std::array::from_fn(|axis| focal_point[axis] + distance * direction[axis]),
            focal_point,
            // Perpendicular to the view direction, also at elevations of ±90 degrees.
            view_up: [-sin_e * cos_a, -sin_e * sin_a, cos_e],
            projection,
        })
    }
}

/// Half of the height of the visible area at distance 1 from the camera.
fn half_height_at_1(fov: f64) -> f64 {
    (fov.to_radians() / 2.0).tan()
}
