//! Camera paths of movies.

use std::path::PathBuf;

use zippy_io::IoError;
use zippy_render::volume::{Camera, Projection};

use super::keyframes::Track;
use super::pose::Framing;

/// Movement of the camera during a movie.
#[derive(Debug, Clone, PartialEq)]
pub enum CameraPath {
    /// One turn around the focal point.
    Orbit,
    /// A turn of 30 degrees to one side, then to the other side, and back.
    Rock,
    /// Magnification of the middle by 2 and back.
    Zoom,
    /// Key frames of a JSON file.
    File(PathBuf),
}

/// Parses `orbit`, `rock`, `zoom` or the name of a JSON file.
///
/// # Errors
/// A message for the command line.
pub fn parse_path(word: impl Into<PathBuf>) -> Result<CameraPath, String> {
    let word = word.into();
    match word.to_str() {
        Some("orbit") => Ok(CameraPath::Orbit),
        Some("rock") => Ok(CameraPath::Rock),
        Some("zoom") => Ok(CameraPath::Zoom),
        _ if word.extension().is_some_and(|ending| ending == "json") => Ok(CameraPath::File(word)),
        _ => Err("one of orbit, rock, zoom, or key frames in a .json file".into()),
    }
}

/// Maximum angle of `Rock` to each side, in degrees.
const ROCK_DEGREES: f64 = 30.0;
/// Maximum magnification of `Zoom`.
const ZOOM_FACTOR: f64 = 2.0;

impl CameraPath {
    /// Cameras of `frames` frames. Predefined paths begin at `start` and end there; a file contains
    /// its own poses, relative to `framing`.
    ///
    /// # Errors
    /// The file cannot be read or is malformed.
    pub fn cameras(&self, start: &Camera, framing: &Framing, frames: u32) -> Result<Vec<Camera>, IoError> {
        let share = |frame: u32| f64::from(frame) / f64::from(frames);
        let each = |camera: &dyn Fn(f64) -> Camera| Ok((0..frames).map(|frame| camera(share(frame))).collect());
        let angle = |share: f64| std::f64::consts::TAU * share;
        match self {
            Self::Orbit => each(&|share| rotate(start, 360.0 * share)),
            Self::Rock => each(&|share| rotate(start, ROCK_DEGREES * angle(share).sin())),
            Self::Zoom => each(&|share| magnify(start, ZOOM_FACTOR.powf((1.0 - angle(share).cos()) / 2.0))),
            Self::File(path) => {
                let track = Track::read(path)?;
                let error = |message: String| IoError::request(path, message);
                track.poses(frames).iter().map(|pose| framing.camera(pose).map_err(error)).collect()
            }
        }
    }
}

/// Rotates the camera around an axis through its focal point. The axis is the third axis of the
/// volume, or the camera's up direction if that is nearly perpendicular to the third axis.
fn rotate(camera: &Camera, degrees: f64) -> Camera {
    let axis = if camera.view_up[2].abs() > 0.1 { [0.0, 0.0, 1.0] } else { unit(camera.view_up) };
    let turn = |v: [f64; 3]| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (across, along) = (cross(axis, v), dot(axis, v));
        std::array::from_fn(|i| v[i] * cos + across[i] * sin + axis[i] * along * (1.0 - cos))
    };
    let away: [f64; 3] = turn(std::array::from_fn(|i| camera.position[i] - camera.focal_point[i]));
    Camera {
        position: std::array::from_fn(|i| camera.focal_point[i] + away[i]),
        view_up: turn(camera.view_up),
        ..camera.clone()
    }
}

/// Magnifies the picture around the focal point by `factor`.
fn magnify(camera: &Camera, factor: f64) -> Camera {
    let mut camera = camera.clone();
    match &mut camera.projection {
        Projection::Parallel { half_height } => *half_height /= factor,
        Projection::Perspective { .. } => {
            let focus = camera.focal_point;
            camera.position = std::array::from_fn(|i| focus[i] + (camera.position[i] - focus[i]) / factor);
        }
    }
    camera
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(v: [f64; 3]) -> [f64; 3] {
    let length = dot(v, v).sqrt();
    v.map(|x| x / length)
}
