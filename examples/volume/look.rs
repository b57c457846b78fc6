//! How a volume is looked at: what the scene says, or defaults that suit any volume.

use zippy::algorithms::volume::{Camera, TransferFunction, View};
use zippy::error::Error;
use zippy::io::scene;

use crate::options::Options;

/// Everything about a picture but the volume.
#[derive(Debug, Clone)]
pub struct Look {
    pub camera: Camera,
    /// Colours and opacities; `None`: a ramp over the values that the volume has.
    pub transfer: Option<TransferFunction>,
    pub step: f64,
    pub background: [f32; 3],
    pub size: (u32, u32),
}

impl Look {
    /// The look of a volume of `shape` voxels, `spacing` apart. Local; checks everything that can be checked before the
    /// volume is read.
    ///
    /// # Errors
    /// No such scene; a camera, size, step or shape that makes no picture.
    pub fn new(options: &Options, shape: [i64; 3], spacing: [f64; 3]) -> Result<Self, Error> {
        let mut look = match &options.scene {
            Some(path) => {
                let scene = scene::read(path, options.scene_name.as_deref())?;
                let size = scene.size.unwrap_or((512, 512));
                let (camera, transfer, step) = (scene.camera, Some(scene.transfer), scene.sample_distance);
                Self { camera, transfer, step, background: scene.background, size }
            }
            None => {
                let camera = orbit(options, shape, spacing)?;
                let step = spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length)) / 2.0;
                Self { camera, transfer: None, step, background: [0.0; 3], size: (512, 512) }
            }
        };
        look.size = options.size.unwrap_or(look.size);
        look.step = options.step.unwrap_or(look.step);
        View::new(&look.camera, look.size, shape, spacing, look.step)?;
        Ok(look)
    }
}

/// A camera that looks at the middle of the volume from where the command line says.
fn orbit(options: &Options, shape: [i64; 3], spacing: [f64; 3]) -> Result<Camera, Error> {
    let (azimuth, elevation, zoom) = (options.azimuth, options.elevation, options.zoom);
    if !(azimuth.is_finite() && (-90.0..=90.0).contains(&elevation) && zoom > 0.0 && zoom.is_finite()) {
        let message = format!(
            "a camera at azimuth {azimuth}, elevation {elevation} with zoom {zoom}; elevation must be -90 to 90 and zoom \
             above 0"
        );
        return Err(Error::program(message));
    }
    let mut camera = Camera::overview(shape, spacing);
    let away: [f64; 3] = std::array::from_fn(|axis| camera.position[axis] - camera.focal_point[axis]);
    let distance = away.iter().map(|length| length * length).sum::<f64>().sqrt() / zoom;
    let ((sin_a, cos_a), (sin_e, cos_e)) = (azimuth.to_radians().sin_cos(), elevation.to_radians().sin_cos());
    let direction = [cos_e * cos_a, cos_e * sin_a, sin_e];
    camera.position = std::array::from_fn(|axis| camera.focal_point[axis] + distance * direction[axis]);
    // Seen from right above or below, "up" is away from where the camera would come down.
    camera.view_up = [-sin_e * cos_a, -sin_e * sin_a, cos_e];
    Ok(camera)
}

/// A transfer function for the phantom: through the translucent skull and brain shows what lies in them.
pub fn phantom(shape: [i64; 3]) -> TransferFunction {
    TransferFunction {
        opacity: vec![
            [0.0, 0.0],
            [600.0, 0.0],
            [900.0, 0.008],
            [1150.0, 0.012],
            [1320.0, 0.03],
            [1500.0, 0.02],
            [1700.0, 0.25],
            [2300.0, 0.4],
            [2800.0, 0.6],
            [4095.0, 0.95],
        ],
        colour: vec![
            [0.0, 0.2, 0.4, 0.9],
            [600.0, 0.3, 0.5, 1.0],
            [1310.0, 0.75, 0.85, 1.0],
            [1600.0, 0.3, 0.8, 0.6],
            [2000.0, 0.3, 0.85, 0.5],
            [2600.0, 1.0, 0.75, 0.2],
            [3000.0, 1.0, 0.6, 0.15],
            [3800.0, 1.0, 0.25, 0.15],
        ],
        unit_distance: diagonal(shape, [1.0; 3]) / 220.0,
    }
}

/// A transfer function for values from `low` to `high`; opacities hold over a 400th of the volume's diagonal, so that
/// volumes of all sizes look alike.
pub fn ramp((low, high): (f64, f64), shape: [i64; 3], spacing: [f64; 3]) -> TransferFunction {
    let high = if high > low { high } else { low + 1.0 };
    TransferFunction { unit_distance: diagonal(shape, spacing) / 400.0, ..TransferFunction::ramp(low, high) }
}

fn diagonal(shape: [i64; 3], spacing: [f64; 3]) -> f64 {
    (0..3).map(|axis| ((shape[axis] - 1) as f64 * spacing[axis]).powi(2)).sum::<f64>().sqrt()
}
