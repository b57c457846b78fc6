//! Look of the pictures from the command line, the scene file and defaults.

use zippy::Grid;
use zippy::error::Error;
use zippy_io::png::{Behind, Style};
use zippy_render::scene::{self, Scene};
use zippy_render::transfer;
use zippy_render::volume::{Camera, ClipPlane, Crop, Interpolation, Look, Preset, TransferFunction, Values, View};

use super::choices;
use super::options::Options;
use super::pose::{Framing, Pose};
use super::value_mapping::ValueMapping;

/// Pixels on a side of the trial picture that compiles the kernels.
const TRIAL_SIDE: u32 = 64;

/// Picture settings that do not depend on the values of the volume.
#[derive(Debug, Clone)]
pub struct PictureSetup {
    /// Look of the first picture. Its transfer function is a placeholder for presets, which are
    /// fitted to the values.
    look: Look,
    colours: Colours,
    /// Voxel spacing along each axis.
    spacing: [f64; 3],
    /// Bit depth and background of PNG files.
    pub style: Style,
    /// Box and projection of cameras on a path.
    pub framing: Framing,
}

/// Source of the transfer function.
#[derive(Debug, Clone, PartialEq)]
enum Colours {
    Given(TransferFunction),
    Preset(Preset),
}

impl PictureSetup {
    /// Settings for a volume of `shape` voxels on a grid. `volume_colours` is the transfer function
    /// of the volume itself, if it has one. Checks everything that needs no voxels. Local.
    ///
    /// # Errors
    /// Unknown scene; unreadable transfer function; a camera, size, step or shape that gives no
    /// picture.
    pub fn new(
        options: &Options,
        shape: [i64; 3],
        grid: impl Into<Grid>,
        volume_colours: Option<TransferFunction>,
    ) -> Result<Self, Error> {
        let file = options.camera.scene.as_ref();
        let scene = file.map(|path| scene::read(path, options.camera.scene_name.as_deref())).transpose()?;
        let fov = options.camera.fov.unwrap_or(40.0);
        let is_parallel = options.camera.projection == choices::Projection::Parallel;
        let grid: Grid = grid.into();
        let spacing = grid.spacing;
        let size: [f64; 3] = std::array::from_fn(|axis| (shape[axis] - 1) as f64 * spacing[axis]);
        // The visible box, in voxels.
        let mut visible = [[0.0; 3], shape.map(|count| (count - 1) as f64)];
        if let Some(Crop { low, high }) = options.look.crop {
            visible = [
                std::array::from_fn(|axis| low[axis].max(0.0) / spacing[axis]),
                std::array::from_fn(|axis| high[axis].min(size[axis]) / spacing[axis]),
            ];
            if (0..3).any(|axis| low[axis] >= size[axis] || high[axis] <= 0.0) {
                let extent = size.map(|length| format!("0:{length}")).join(",");
                let message = format!("--crop leaves nothing of the volume, which extends over {extent}");
                return Err(Error::program(message));
            }
        }
        let [low, high] = grid.bounds_between(visible[0], visible[1]);
        let framing = Framing { low, high, is_parallel, fov };
        let camera = match &scene {
            Some(scene) => scene.camera.clone(),
            None => first_camera(options, &framing)?,
        };
        let colours = match (&options.look.transfer, options.look.preset, &scene, volume_colours) {
            (Some(path), ..) => Colours::Given(transfer::read(path)?),
            (_, Some(preset), ..) => Colours::Preset(preset),
            (_, _, Some(scene), _) => Colours::Given(scene.transfer.clone()),
            (_, _, _, Some(colours)) => Colours::Given(colours),
            _ => Colours::Preset(Preset::Perceptual),
        };
        let transfer = match &colours {
            Colours::Given(transfer) => transfer.clone(),
            Colours::Preset(_) => TransferFunction::ramp(0.0, 1.0),
        };
        let look = apply_options(options, scene.as_ref(), Look::new(camera, transfer), spacing);
        if options.look.has_light_options() && look.shading.is_none() {
            return Err(Error::program("--ambient, --diffuse, --specular and --shininess need light: give --shade"));
        }
        View::of(&look, shape, grid)?;
        let behind = match options.picture.background {
            _ if options.picture.alpha => Behind::Nothing,
            Some(colour) => Behind::Colour(colour),
            None => Behind::Colour(scene.map_or([0.0; 3], |scene| scene.background)),
        };
        let depth = options.picture.depth.map(Into::into).unwrap_or_default();
        Ok(Self { look, colours, spacing, style: Style { depth, behind }, framing })
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.look.size
    }

    /// Background colour, black for a transparent background.
    pub fn background(&self) -> [f32; 3] {
        if let Behind::Colour(colour) = self.style.behind { colour } else { [0.0; 3] }
    }

    /// Checks that the preset `labels` has a colour for every label in the range of `values`.
    ///
    /// # Errors
    /// The range of labels is larger than the number of colours.
    pub fn check_labels(&self, values: &Values) -> Result<(), Error> {
        let (least, most) = values.range();
        if self.colours == Colours::Preset(Preset::Labels) && most - least > Preset::MOST_LABELS {
            let text = format!(
                "--preset labels: the values are from {least} to {most}; the preset has colours for labels that differ by at most {}",
                Preset::MOST_LABELS
            );
            return Err(Error::program(text));
        }
        Ok(())
    }

    /// Fits a preset and returns it as a transfer function of stored numbers. The unit distance of
    /// its opacities is the mean voxel spacing. The preset is fitted without the offset of
    /// `mapping.units` (see [`ValueMapping::fitted`]).
    pub fn preset(&self, preset: Preset, mapping: &ValueMapping) -> TransferFunction {
        let fitted = mapping.fitted();
        let values = preset.fit(&fitted.values(&mapping.stored), self.spacing.iter().sum::<f64>() / 3.0);
        fitted.transfer(&values)
    }

    /// Look of the first picture, with a transfer function of values.
    pub fn look(&self, mapping: &ValueMapping) -> Look {
        let transfer = match &self.colours {
            Colours::Given(given) => given.clone(),
            Colours::Preset(preset) => mapping.rescale().inverse().transfer(&self.preset(*preset, mapping)),
        };
        Look { transfer, ..self.look.clone() }
    }

    /// Look of the first picture, with a transfer function of stored numbers.
    pub fn stored_look(&self, mapping: &ValueMapping) -> Look {
        let transfer = match &self.colours {
            Colours::Given(given) => mapping.rescale().transfer(given),
            Colours::Preset(preset) => self.preset(*preset, mapping),
        };
        mapping.limit_transfer(Look { transfer, ..self.look.clone() })
    }

    /// Look of a small picture of a volume of ones with `shape` voxels, which runs the same kernels
    /// as the first picture.
    pub fn trial(&self, shape: [i64; 3]) -> Look {
        let Look { size, shading, preintegrated, interpolation, ref clip, .. } = self.look;
        let everything = ClipPlane { normal: [1.0, 0.0, 0.0], offset: -1.0 };
        Look {
            size: (size.0.min(TRIAL_SIDE), size.1.min(TRIAL_SIDE)),
            shading,
            preintegrated,
            interpolation,
            clip: vec![everything; clip.len()],
            ..Look::new(Camera::overview(shape, [1.0; 3]), TransferFunction::ramp(0.0, 1.0))
        }
    }
}

/// Applies the options and the scene to a default look.
fn apply_options(options: &Options, scene: Option<&Scene>, defaults: Look, spacing: [f64; 3]) -> Look {
    let finest = spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length));
    let look = &options.look;
    Look {
        step: look.step.unwrap_or(scene.map_or(finest / 2.0, |scene| scene.sample_distance)),
        size: options.picture.size.or(scene.and_then(|scene| scene.size)).unwrap_or(defaults.size),
        shading: match scene.and_then(|scene| scene.shading) {
            None if !look.shade => None,
            given => Some(look.light(given)),
        },
        preintegrated: look.preintegrated,
        interpolation: if look.is_nearest() { Interpolation::Nearest } else { Interpolation::Linear },
        clip: look.clip.clone(),
        crop: look.crop,
        jitter: look.jitter,
        termination: look.termination.unwrap_or(defaults.termination),
        ..defaults
    }
}

/// Camera of the first picture, from azimuth, elevation and zoom of the command line.
fn first_camera(options: &Options, framing: &Framing) -> Result<Camera, Error> {
    let super::appearance::CameraOptions { azimuth, elevation, zoom, .. } = options.camera;
    framing.camera(&Pose { azimuth, elevation, zoom, focal_point: None }).map_err(Error::program)
}

/// Transfer function of the phantom: translucent skull and brain with opaque structures inside.
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
        unit_distance: diagonal_length(shape, [1.0; 3]) / 220.0,
    }
}

fn diagonal_length(shape: [i64; 3], spacing: [f64; 3]) -> f64 {
    (0..3).map(|axis| ((shape[axis] - 1) as f64 * spacing[axis]).powi(2)).sum::<f64>().sqrt()
}
