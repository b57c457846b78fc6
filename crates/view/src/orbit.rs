//! How a camera moves: pure functions, for any input device.
//!
//! Lengths on the picture are in picture heights and point right and up; the middle is the origin.

use zippy_render::volume::{Camera, Projection};

use crate::vector::{Vector, add, cross, length, scaled, sub, turned, unit};

/// The directions of a camera: orthonormal.
struct Frame {
    right: Vector,
    up: Vector,
    forward: Vector,
}

/// `None` where the camera has no direction.
fn frame(camera: &Camera) -> Option<Frame> {
    let forward = unit(sub(camera.focal_point, camera.position))?;
    let right = unit(cross(forward, camera.view_up))?;
    Some(Frame { right, up: cross(right, forward), forward })
}

/// The length that one picture height shows at the depth of the focal point.
pub fn height_at_focus(camera: &Camera) -> f64 {
    match camera.projection {
        Projection::Perspective { vertical_fov_degrees } => {
            2.0 * (vertical_fov_degrees.to_radians() / 2.0).tan() * distance(camera)
        }
        Projection::Parallel { half_height } => 2.0 * half_height,
    }
}

/// How far the camera stands from its focal point.
pub fn distance(camera: &Camera) -> f64 {
    length(sub(camera.focal_point, camera.position))
}

/// Turns what is seen about the focal point, as if its front were pushed right and up by these angles in radians. There is
/// no pole: the camera's up turns along.
pub fn turn(camera: &mut Camera, right: f64, up: f64) {
    let Some(frame) = frame(camera) else { return };
    let away = sub(camera.position, camera.focal_point);
    let away = turned(turned(away, frame.up, -right), turned(frame.right, frame.up, -right), up);
    camera.view_up = turned(frame.up, turned(frame.right, frame.up, -right), up);
    camera.position = add(camera.focal_point, away);
}

/// Moves what is seen at the depth of the focal point by so many picture heights.
pub fn pan(camera: &mut Camera, right: f64, up: f64) {
    let Some(frame) = frame(camera) else { return };
    let height = height_at_focus(camera);
    let by = add(scaled(frame.right, -right * height), scaled(frame.up, -up * height));
    camera.position = add(camera.position, by);
    camera.focal_point = add(camera.focal_point, by);
}

/// Shows things `factor` times as large; what is seen at the place `at` in the depth of the focal point stays there.
/// With perspective the camera moves, without its picture becomes smaller.
pub fn zoom(camera: &mut Camera, factor: f64, at: [f64; 2]) {
    let Some(frame) = frame(camera) else { return };
    if !(factor > 0.0 && factor.is_finite()) {
        return;
    }
    let height = height_at_focus(camera);
    let aside = add(scaled(frame.right, at[0] * height), scaled(frame.up, at[1] * height));
    let by = scaled(aside, 1.0 - 1.0 / factor);
    camera.focal_point = add(camera.focal_point, by);
    match &mut camera.projection {
        Projection::Perspective { .. } => {
            let back = length(sub(camera.focal_point, add(camera.position, by))) / factor;
            camera.position = sub(camera.focal_point, scaled(frame.forward, back));
        }
        Projection::Parallel { half_height } => {
            camera.position = add(camera.position, by);
            *half_height /= factor;
        }
    }
}
