//! Paths of the camera: where it stands in each frame.

use std::path::PathBuf;

use zippy_io::IoError;
use zippy_render::volume::{Camera, Projection};

use super::keyframes::Track;
use super::pose::Stand;

/// How the camera moves.
#[derive(Debug, Clone, PartialEq)]
pub enum Path {
    /// Once around.
    Orbit,
    /// To either side and back.
    Rock,
    /// Towards the middle and back.
    Zoom,
    /// By the key frames of a file.
    File(PathBuf),
}

/// Reads `orbit`, `rock`, `zoom` or the name of a JSON file.
///
/// # Errors
/// What is wrong, for the command line.
pub fn path(word: impl Into<PathBuf>) -> Result<Path, String> {
    let word = word.into();
    match word.to_str() {
        Some("orbit") => Ok(Path::Orbit),
        Some("rock") => Ok(Path::Rock),
        Some("zoom") => Ok(Path::Zoom),
        _ if word.extension().is_some_and(|ending| ending == "json") => Ok(Path::File(word)),
        _ => Err("one of orbit, rock, zoom, or key frames in a .json file".into()),
    }
}

/// How far a rocking camera turns to either side, in degrees.
const ROCK: f64 = 30.0;
/// How much larger things are where a zoom turns back.
const ZOOM: f64 = 2.0;

impl Path {
    /// The camera of each of `frames` frames; those of the command line's paths begin at `start` and come back to it.
    ///
    /// # Errors
    /// The file cannot be read or is malformed.
    pub fn cameras(&self, start: &Camera, stand: &Stand, frames: u32) -> Result<Vec<Camera>, IoError> {
        let round = |frame: u32| f64::from(frame) / f64::from(frames);
        let each = |camera: &dyn Fn(f64) -> Camera| Ok((0..frames).map(|frame| camera(round(frame))).collect());
        let angle = |share: f64| std::f64::consts::TAU * share;
        match self {
            Self::Orbit => each(&|share| turned(start, 360.0 * share)),
            Self::Rock => each(&|share| turned(start, ROCK * angle(share).sin())),
            Self::Zoom => each(&|share| closer(start, ZOOM.powf((1.0 - angle(share).cos()) / 2.0))),
            Self::File(path) => {
                let track = Track::read(path)?;
                let wrong = |message: String| IoError::request(path, message);
                track.poses(frames).iter().map(|pose| stand.camera(pose).map_err(wrong)).collect()
            }
        }
    }
}

/// The camera turned around an axis through its focal point that is upright in the picture: the volume's third one, where
/// the camera's own upward direction leans towards it.
fn turned(camera: &Camera, degrees: f64) -> Camera {
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

/// The camera that sees what is in its focal point `factor` times larger.
fn closer(camera: &Camera, factor: f64) -> Camera {
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
