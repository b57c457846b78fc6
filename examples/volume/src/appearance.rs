//! The part of the command line that says how things look.

use std::path::PathBuf;

use clap::Args;
use zippy_render::volume::{ClipPlane, Colouring, Crop, Material, Preset, Shading};

use super::choices::{Interpolation, Projection};
use super::parse;

/// From where.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Camera")]
pub struct CameraOptions {
    /// Where the camera stands, degrees around the third axis; -90 is the side of small y
    #[arg(long, value_name = "DEGREES", default_value_t = -47.0, value_parser = parse::real, conflicts_with = "scene")]
    pub azimuth: f64,

    /// How high the camera stands, degrees above the x-y plane, -90 to 90
    #[arg(
        long,
        value_name = "DEGREES",
        default_value_t = 29.0,
        value_parser = parse::between(-90.0, 90.0),
        conflicts_with = "scene"
    )]
    pub elevation: f64,

    /// 1 shows the whole volume, or what --crop leaves of it; 2 its middle twice as large
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse::positive, conflicts_with = "scene")]
    pub zoom: f64,

    /// Whether what is far looks smaller
    #[arg(long, value_name = "KIND", default_value = "perspective", conflicts_with = "scene")]
    pub projection: Projection,

    /// Angle between the lowest and the highest ray of a perspective picture, 1 to 170; the volume keeps its size.
    /// Default: 40
    #[arg(long, value_name = "DEGREES", value_parser = parse::between(1.0, 170.0), conflicts_with = "scene")]
    pub fov: Option<f64>,

    /// Camera, transfer function, sample distance, shading and background from a JSON file with a list `scenes`, as
    /// docs/scenes.json
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,

    /// Which scene of the file: an entry's `file` without .png. May be left out if there is only one
    #[arg(long, value_name = "NAME", requires = "scene")]
    pub scene_name: Option<String>,
}

/// How values become light.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Colours, light and cuts")]
pub struct LookOptions {
    /// Colours and opacities from the shelf, fitted to the values that the volume has: ct-bone, ct-soft, mr,
    /// angiography, grey-ramp, perceptual, labels (a colour for each whole number, 0 transparent). Default: the scene's, else
    /// perceptual
    #[arg(long, value_name = "NAME", conflicts_with = "transfer")]
    pub preset: Option<Preset>,

    /// Colours and opacities from a JSON file, as examples/volume/transfer.json: {"opacity_points": [[value, opacity],
    /// ..], "rgb_points": [[value, red, green, blue], ..], "opacity_unit_distance": 1}, values ascending, all else from
    /// 0 to 1. An opacity is what the unit distance absorbs, a length in the unit of the spacing; left out, it is 1
    #[arg(long, value_name = "FILE")]
    pub transfer: Option<PathBuf>,

    /// Lights surfaces from the camera, by the gradient of the values
    #[arg(long)]
    pub shade: bool,

    /// Light: share of the colour that is there without it, 0 to 1. These four are given with --shade or to a scene
    /// that has light, whose own they replace. Default: 0.4
    #[arg(long, value_name = "SHARE", value_parser = parse::between(0.0, 1.0))]
    pub ambient: Option<f64>,

    /// Light: share of the colour that is there where a surface faces the camera, 0 to 1. Default: 0.6
    #[arg(long, value_name = "SHARE", value_parser = parse::between(0.0, 1.0))]
    pub diffuse: Option<f64>,

    /// Light: white where a surface mirrors it, 0 to 1. Default: 0.2
    #[arg(long, value_name = "SHARE", value_parser = parse::between(0.0, 1.0))]
    pub specular: Option<f64>,

    /// Light: how small the mirrored light is, 1 (wide) to 1000 (a point). Default: 20
    #[arg(long, value_name = "EXPONENT", value_parser = parse::between(1.0, 1000.0))]
    pub shininess: Option<f64>,

    /// How values between voxels are found: linear, or nearest, which suits labels: between 1 and 3 there is no 2. Default:
    /// nearest with the preset labels, else linear
    #[arg(long, value_name = "KIND")]
    pub interpolation: Option<Interpolation>,

    /// Integrates colours over the values between two samples: thin shells have no rings, steps of up to two voxels
    /// will do
    #[arg(long)]
    pub preintegrated: bool,

    /// Distance of the samples on a ray, in the unit of the volume's spacing. Default: what the scene says, else half
    /// the smallest spacing
    #[arg(long, value_name = "LENGTH", value_parser = parse::positive)]
    pub step: Option<f64>,

    /// Shows only points p with nx*px + ny*py + nz*pz >= offset. May be given up to 6 times. Points are in the
    /// space of the file, by its origin, spacing and directions
    #[arg(long, value_name = "NX,NY,NZ,OFFSET", value_parser = parse::clip)]
    pub clip: Vec<ClipPlane>,

    /// Shows only a box; ends may be left out, as in 10:,:,:64. In lengths along the volume's
    /// axes, from the first voxel: index times spacing
    #[arg(long, value_name = "X0:X1,Y0:Y1,Z0:Z1", value_parser = parse::crop)]
    pub crop: Option<Crop>,

    /// Shifts the samples of each pixel by a fixed noise, which hides rings
    #[arg(long)]
    pub jitter: bool,

    /// Rays end where at most this share of light comes through, 0 to 0.1, which is also the largest error of a
    /// component (where ambient, diffuse and specular light add up to more than 1, that much later); 0: never before
    /// the volume does. Default: 2^-19
    #[arg(long, value_name = "SHARE", value_parser = parse::between(0.0_f32, 0.1))]
    pub termination: Option<f32>,
}

/// The isosurface in the volume.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Isosurface")]
pub struct IsosurfaceOptions {
    /// Shows the surface where the volume has this value, too. With --view it can be moved
    #[arg(long, value_name = "VALUE", value_parser = parse::real)]
    pub iso: Option<f64>,

    /// How much of what lies behind the surface it hides, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = parse::between(0.0, 1.0), requires = "iso")]
    pub iso_opacity: f64,

    /// The surface's colour: a name of CSS, #ff8000 or 1,0.5,0
    #[arg(long, value_name = "COLOUR", default_value = "#ede0b8", value_parser = parse::colour, requires = "iso")]
    pub iso_colour: [f32; 3],
}

impl IsosurfaceOptions {
    /// What it looks like.
    pub fn material(&self) -> Material {
        let colour = Colouring::Plain(self.iso_colour.map(f64::from));
        Material { colour, opacity: self.iso_opacity, ..Material::default() }
    }
}

impl LookOptions {
    /// Whether values are those of the nearest voxel.
    pub fn is_nearest(&self) -> bool {
        self.interpolation.map_or(self.preset == Some(Preset::Labels), |kind| kind == Interpolation::Nearest)
    }

    /// Whether a part of the light is given.
    pub fn lit(&self) -> bool {
        [self.ambient, self.diffuse, self.specular, self.shininess].iter().any(Option::is_some)
    }

    /// The light of a scene, or a bright one, with what the command line says of it.
    pub fn light(&self, scene: Option<Shading>) -> Shading {
        let bright = Shading { ambient: 0.4, diffuse: 0.6, specular: 0.2, shininess: 20.0 };
        let Shading { ambient, diffuse, specular, shininess } = scene.unwrap_or(bright);
        Shading {
            ambient: self.ambient.unwrap_or(ambient),
            diffuse: self.diffuse.unwrap_or(diffuse),
            specular: self.specular.unwrap_or(specular),
            shininess: self.shininess.unwrap_or(shininess),
        }
    }
}
