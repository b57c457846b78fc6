//! How a camera moves: pure functions, for any input device.
//!
//! Lengths on the picture are in picture heights and point right and up; the middle is the origin.

use glam::{DQuat, DVec3};
use zippy_render::volume::{Camera, Projection};

/// Shorter vectors have no direction.
const SHORTEST: f64 = 1e-12;

/// The directions of a camera: orthonormal.
struct Frame {
    right: DVec3,
    up: DVec3,
    forward: DVec3,
}

/// `None` where the camera has no direction.
fn frame(camera: &Camera) -> Option<Frame> {
    let forward = unit(-away(camera))?;
    let right = unit(forward.cross(camera.view_up.into()))?;
    Some(Frame { right, up: right.cross(forward), forward })
}

fn unit(vector: DVec3) -> Option<DVec3> {
    vector.try_normalize().filter(|_| vector.length() > SHORTEST)
}

/// From the focal point to the camera.
fn away(camera: &Camera) -> DVec3 {
    DVec3::from(camera.position) - DVec3::from(camera.focal_point)
}

/// The length that one picture height shows at the depth of the focal point.
pub fn height_at_focus(camera: &Camera) -> f64 {
    match camera.projection {
        Projection::Perspective { vertical_fov_degrees } => {
            2.0 * (vertical_fov_degrees.to_radians() / 2.0).tan() * away(camera).length()
        }
        Projection::Parallel { half_height } => 2.0 * half_height,
    }
}

/// Where a point of the volume is seen; none behind the camera, and where the camera has no direction.
pub fn seen_at(camera: &Camera, point: [f64; 3]) -> Option<[f64; 2]> {
    let frame = frame(camera)?;
    let by = DVec3::from(point) - DVec3::from(camera.position);
    let depth = by.dot(frame.forward);
    let height = match camera.projection {
        Projection::Perspective { vertical_fov_degrees } => {
            2.0 * (vertical_fov_degrees.to_radians() / 2.0).tan() * depth
        }
        Projection::Parallel { half_height } => 2.0 * half_height,
    };
    (depth > 0.0 && height > SHORTEST).then(|| [by.dot(frame.right) / height, by.dot(frame.up) / height])
}

/// Turns what is seen about the focal point, as if its front were pushed right and up by these angles in radians. There is
/// no pole: the camera's up turns along.
pub fn turn(camera: &mut Camera, right: f64, up: f64) {
    let Some(frame) = frame(camera) else { return };
    let turned = DQuat::from_axis_angle(frame.right, up);
    let turned = DQuat::from_axis_angle(frame.up, -right) * turned;
    camera.view_up = (turned * frame.up).into();
    camera.position = (DVec3::from(camera.focal_point) + turned * away(camera)).into();
}

/// Moves what is seen at the depth of the focal point by so many picture heights.
pub fn pan(camera: &mut Camera, right: f64, up: f64) {
    let Some(frame) = frame(camera) else { return };
    let by = (frame.right * right + frame.up * up) * -height_at_focus(camera);
    camera.position = (DVec3::from(camera.position) + by).into();
    camera.focal_point = (DVec3::from(camera.focal_point) + by).into();
}

/// Shows things `factor` times as large; what is seen at the place `at` in the depth of the focal point stays there.
/// With perspective the camera moves, without its picture becomes smaller.
pub fn zoom(camera: &mut Camera, factor: f64, at: [f64; 2]) {
    let Some(frame) = frame(camera) else { return };
    if !(factor > 0.0 && factor.is_finite()) {
        return;
    }
    let aside = (frame.right * at[0] + frame.up * at[1]) * height_at_focus(camera);
    let by = aside * (1.0 - 1.0 / factor);
    let (position, focal_point) = (DVec3::from(camera.position) + by, DVec3::from(camera.focal_point) + by);
    camera.focal_point = focal_point.into();
    camera.position = match &mut camera.projection {
        Projection::Perspective { .. } => focal_point - frame.forward * (focal_point - position).length() / factor,
        Projection::Parallel { half_height } => {
            *half_height /= factor;
            position
        }
    }
    .into();
}
