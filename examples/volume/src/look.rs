//! How a volume is looked at: what the command line and the scene say, or defaults that suit any volume.

use zippy::Grid;
use zippy::error::Error;
use zippy_io::png::{Behind, Style};
use zippy_render::scene::{self, Scene};
use zippy_render::transfer;
use zippy_render::volume::{Camera, ClipPlane, Crop, Interpolation, Look, Preset, TransferFunction, Values, View};

use super::choices;
use super::numbers::Numbers;
use super::options::Options;
use super::pose::{Pose, Stand};

/// Pixels along each side of a small picture.
const TRIAL: u32 = 64;

/// Everything about the pictures but the values of the volume.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The first picture; its transfer function is not yet that of the volume's values.
    look: Look,
    colours: Colours,
    /// Distance of voxels along each axis.
    spacing: [f64; 3],
    /// How the picture is stored.
    pub style: Style,
    /// What other cameras are to show.
    pub stand: Stand,
}

/// Where colours and opacities come from.
#[derive(Debug, Clone, PartialEq)]
enum Colours {
    Given(TransferFunction),
    Preset(Preset),
}

impl Setup {
    /// For a volume of `shape` voxels on a grid; `own` are its own colours, if it has any. Local; checks
    /// everything that can be checked before the volume is read.
    ///
    /// # Errors
    /// No such scene or transfer function; a camera, size, step or shape that makes no picture.
    pub fn new(
        options: &Options,
        shape: [i64; 3],
        grid: impl Into<Grid>,
        own: Option<TransferFunction>,
    ) -> Result<Self, Error> {
        let file = options.camera.scene.as_ref();
        let scene = file.map(|path| scene::read(path, options.camera.scene_name.as_deref())).transpose()?;
        let fov = options.camera.fov.unwrap_or(40.0);
        let parallel = options.camera.projection == choices::Projection::Parallel;
        let grid: Grid = grid.into();
        let spacing = grid.spacing;
        let size: [f64; 3] = std::array::from_fn(|axis| (shape[axis] - 1) as f64 * spacing[axis]);
        // In voxels.
        let mut seen = [[0.0; 3], shape.map(|count| (count - 1) as f64)];
        if let Some(Crop { low, high }) = options.look.crop {
            seen = [
                std::array::from_fn(|axis| low[axis].max(0.0) / spacing[axis]),
                std::array::from_fn(|axis| high[axis].min(size[axis]) / spacing[axis]),
            ];
            if (0..3).any(|axis| low[axis] >= size[axis] || high[axis] <= 0.0) {
                let extent = size.map(|length| format!("0:{length}")).join(",");
                let message = format!("--crop leaves nothing of the volume, which extends over {extent}");
                return Err(Error::program(message));
            }
        }
        let [low, high] = grid.bounds_between(seen[0], seen[1]);
        let stand = Stand { low, high, parallel, fov };
        let camera = match &scene {
            Some(scene) => scene.camera.clone(),
            None => first(options, &stand)?,
        };
        let colours = match (&options.look.transfer, options.look.preset, &scene, own) {
            (Some(path), ..) => Colours::Given(transfer::read(path)?),
            (_, Some(preset), ..) => Colours::Preset(preset),
            (_, _, Some(scene), _) => Colours::Given(scene.transfer.clone()),
            (_, _, _, Some(own)) => Colours::Given(own),
            _ => Colours::Preset(Preset::Perceptual),
        };
        let given = if let Colours::Given(given) = &colours { given.clone() } else { TransferFunction::ramp(0.0, 1.0) };
        let look = look(options, scene.as_ref(), Look::new(camera, given), spacing);
        if options.look.lit() && look.shading.is_none() {
            return Err(Error::program("--ambient, --diffuse, --specular and --shininess need light: give --shade"));
        }
        View::of(&look, shape, grid)?;
        let behind = match options.picture.background {
            _ if options.picture.alpha => Behind::Nothing,
            Some(colour) => Behind::Colour(colour),
            None => Behind::Colour(scene.map_or([0.0; 3], |scene| scene.background)),
        };
        let depth = options.picture.depth.map(Into::into).unwrap_or_default();
        Ok(Self { look, colours, spacing, style: Style { depth, behind }, stand })
    }

    /// Pixels across and down.
    pub fn size(&self) -> (u32, u32) {
        self.look.size
    }

    /// The colour behind the volume, where there is one.
    pub fn background(&self) -> [f32; 3] {
        if let Behind::Colour(colour) = self.style.behind { colour } else { [0.0; 3] }
    }

    /// # Errors
    /// More labels than have a colour each.
    pub fn check_labels(&self, values: &Values) -> Result<(), Error> {
        let (least, most) = values.range();
        if self.colours == Colours::Preset(Preset::Labels) && most - least > Preset::MOST_LABELS {
            let text = format!(
                "--preset labels: the values go from {least} to {most}; it has colours for labels that differ by at most {}",
                Preset::MOST_LABELS
            );
            return Err(Error::program(text));
        }
        Ok(())
    }

    /// A preset as a function of stored numbers; its opacities hold over the distance of voxels. It is fitted to
    /// numbers without an offset that floats have no room for.
    pub fn preset(&self, preset: Preset, numbers: &Numbers) -> TransferFunction {
        let fitted = numbers.fitted();
        let found = preset.fit(&fitted.values(&numbers.stored), self.spacing.iter().sum::<f64>() / 3.0);
        fitted.transfer(&found)
    }

    /// The first picture's look, at values.
    pub fn look(&self, numbers: &Numbers) -> Look {
        let transfer = match &self.colours {
            Colours::Given(given) => given.clone(),
            Colours::Preset(preset) => numbers.rescale().inverse().transfer(&self.preset(*preset, numbers)),
        };
        Look { transfer, ..self.look.clone() }
    }

    /// The same at the numbers that are stored for values.
    pub fn stored(&self, numbers: &Numbers) -> Look {
        let transfer = match &self.colours {
            Colours::Given(given) => numbers.rescale().transfer(given),
            Colours::Preset(preset) => self.preset(*preset, numbers),
        };
        numbers.seen(Look { transfer, ..self.look.clone() })
    }

    /// A small picture of a whole volume of ones, `shape` voxels, by the kernels of the first picture.
    pub fn trial(&self, shape: [i64; 3]) -> Look {
        let Look { size, shading, preintegrated, interpolation, ref clip, .. } = self.look;
        let everything = ClipPlane { normal: [1.0, 0.0, 0.0], offset: -1.0 };
        Look {
            size: (size.0.min(TRIAL), size.1.min(TRIAL)),
            shading,
            preintegrated,
            interpolation,
            clip: vec![everything; clip.len()],
            ..Look::new(Camera::overview(shape, [1.0; 3]), TransferFunction::ramp(0.0, 1.0))
        }
    }
}

/// What options change of a look.
fn look(options: &Options, scene: Option<&Scene>, plain: Look, spacing: [f64; 3]) -> Look {
    let finest = spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length));
    let asked = &options.look;
    Look {
        step: asked.step.unwrap_or(scene.map_or(finest / 2.0, |scene| scene.sample_distance)),
        size: options.picture.size.or(scene.and_then(|scene| scene.size)).unwrap_or(plain.size),
        shading: match scene.and_then(|scene| scene.shading) {
            None if !asked.shade => None,
            given => Some(asked.light(given)),
        },
        preintegrated: asked.preintegrated,
        interpolation: if asked.is_nearest() { Interpolation::Nearest } else { Interpolation::Linear },
        clip: asked.clip.clone(),
        crop: asked.crop,
        jitter: asked.jitter,
        termination: asked.termination.unwrap_or(plain.termination),
        ..plain
    }
}

/// A camera that looks at the middle of the volume from where the command line says.
fn first(options: &Options, stand: &Stand) -> Result<Camera, Error> {
    let super::appearance::CameraOptions { azimuth, elevation, zoom, .. } = options.camera;
    stand.camera(&Pose { azimuth, elevation, zoom, focal_point: None }).map_err(Error::program)
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

fn diagonal(shape: [i64; 3], spacing: [f64; 3]) -> f64 {
    (0..3).map(|axis| ((shape[axis] - 1) as f64 * spacing[axis]).powi(2)).sum::<f64>().sqrt()
}
