//! Camera movement as pure functions, independent of input devices.
//!
//! Distances on the picture are in picture heights and point right and up. The centre is the
//! origin.

use glam::{DQuat, DVec3};
use zippy_render::volume::{Camera, Projection};

/// Minimum length of a vector with a direction.
const MIN_LENGTH: f64 = 1e-12;

/// Orthonormal view directions of a camera.
struct ViewDirections {
    right: DVec3,
    up: DVec3,
    forward: DVec3,
}

/// Returns the orthonormal view directions, or `None` for a camera without a direction.
fn view_directions(camera: &Camera) -> Option<ViewDirections> {
    let forward = normalized(-from_focus(camera))?;
    let right = normalized(forward.cross(camera.view_up.into()))?;
    Some(ViewDirections { right, up: right.cross(forward), forward })
}

fn normalized(vector: DVec3) -> Option<DVec3> {
    vector.try_normalize().filter(|_| vector.length() > MIN_LENGTH)
}

/// Vector from the focal point to the camera.
fn from_focus(camera: &Camera) -> DVec3 {
    DVec3::from(camera.position) - DVec3::from(camera.focal_point)
}

/// Length in the volume that one picture height covers at the depth of the focal point.
pub(crate) fn height_at_focus(camera: &Camera) -> f64 {
    match camera.projection {
        Projection::Perspective { vertical_fov_degrees } => {
            2.0 * (vertical_fov_degrees.to_radians() / 2.0).tan() * from_focus(camera).length()
        }
        Projection::Parallel { half_height } => 2.0 * half_height,
    }
}

/// Returns the picture position of a point of the volume. `None` behind the camera, and for a
/// camera without a direction.
pub(crate) fn seen_at(camera: &Camera, point: [f64; 3]) -> Option<[f64; 2]> {
    let frame = view_directions(camera)?;
    let by = DVec3::from(point) - DVec3::from(camera.position);
    let depth = by.dot(frame.forward);
    let height = match camera.projection {
        Projection::Perspective { vertical_fov_degrees } => {
            2.0 * (vertical_fov_degrees.to_radians() / 2.0).tan() * depth
        }
        Projection::Parallel { half_height } => 2.0 * half_height,
    };
    (depth > 0.0 && height > MIN_LENGTH).then(|| [by.dot(frame.right) / height, by.dot(frame.up) / height])
}

/// Turns the camera about the focal point, so that the front of the scene moves right and up by
/// these angles in radians. The camera's up vector turns too, so that there is no pole.
pub(crate) fn turn(camera: &mut Camera, right: f64, up: f64) {
    let Some(frame) = view_directions(camera) else { return };
    let turned = DQuat::from_axis_angle(frame.right, up);
    let turned = DQuat::from_axis_angle(frame.up, -right) * turned;
    camera.view_up = (turned * frame.up).into();
    camera.position = (DVec3::from(camera.focal_point) + turned * from_focus(camera)).into();
}

/// Moves the scene right and up at the depth of the focal point, in picture heights.
pub(crate) fn pan(camera: &mut Camera, right: f64, up: f64) {
    let Some(frame) = view_directions(camera) else { return };
    let by = (frame.right * right + frame.up * up) * -height_at_focus(camera);
    camera.position = (DVec3::from(camera.position) + by).into();
    camera.focal_point = (DVec3::from(camera.focal_point) + by).into();
}

/// Zooms by `factor`. The point at picture position `at` and at the depth of the focal point stays
/// fixed. A perspective camera moves; a parallel camera changes its height.
pub(crate) fn zoom(camera: &mut Camera, factor: f64, at: [f64; 2]) {
    let Some(frame) = view_directions(camera) else { return };
    if !(factor > 0.0 && factor.is_finite()) {
        return;
    }
    let offset = (frame.right * at[0] + frame.up * at[1]) * height_at_focus(camera);
    let by = offset * (1.0 - 1.0 / factor);
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
