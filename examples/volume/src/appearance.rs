//! Command-line options of camera, colours, light and isosurface.

use std::path::PathBuf;

use clap::Args;
use zippy_render::volume::{ClipPlane, Colouring, Crop, Material, Preset, Shading};

use super::choices::{Interpolation, Projection};
use super::parse;

/// The camera.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Camera")]
pub struct CameraOptions {
    /// Direction of the camera in degrees around the third axis; -90 is the side of small y
    #[arg(long, value_name = "DEGREES", default_value_t = -47.0, value_parser = parse::real, conflicts_with = "scene")]
    pub azimuth: f64,

    /// Direction of the camera in degrees above the x-y plane, -90 to 90
    #[arg(
        long,
        value_name = "DEGREES",
        default_value_t = 29.0,
        value_parser = parse::between(-90.0, 90.0),
        conflicts_with = "scene"
    )]
    pub elevation: f64,

    /// Magnification: 1 shows the whole volume (or the box of --crop), 2 its middle at twice the
    /// size
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse::positive, conflicts_with = "scene")]
    pub zoom: f64,

    /// Projection
    #[arg(long, value_name = "KIND", default_value = "perspective", conflicts_with = "scene")]
    pub projection: Projection,

    /// Vertical angle of view of a perspective camera, 1 to 170. The distance follows, so that the
    /// volume keeps its size. Default: 40
    #[arg(long, value_name = "DEGREES", value_parser = parse::between(1.0, 170.0), conflicts_with = "scene")]
    pub fov: Option<f64>,

    /// JSON file with a list `scenes` of camera, transfer function, sample distance, shading and
    /// background, such as docs/scenes.json
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,

    /// Name of the scene in the file: the `file` of its entry without .png. Optional if the file
    /// has one scene
    #[arg(long, value_name = "NAME", requires = "scene")]
    pub scene_name: Option<String>,
}

/// Transfer function, light, cuts and sampling.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Colours, light and cuts")]
pub struct LookOptions {
    /// Predefined colours and opacities, fitted to the values of the volume: ct-bone, ct-soft, mr,
    /// angiography, grey-ramp, perceptual, labels (one colour for each integer, 0 transparent).
    /// Default: the colours of the scene, else perceptual
    #[arg(long, value_name = "NAME", conflicts_with = "transfer", help_heading = None, display_order = 4)]
    pub preset: Option<Preset>,

    /// JSON file with colours and opacities, such as examples/volume/transfer.json:
    /// {"opacity_points": [[value, opacity], ..], "rgb_points": [[value, red, green, blue], ..],
    /// "opacity_unit_distance": 1}. Values ascend; opacities and colours are 0 to 1. The opacity
    /// holds for the unit distance, a length in the unit of the spacing (default 1)
    #[arg(long, value_name = "FILE")]
    pub transfer: Option<PathBuf>,

    /// Lights the volume from the camera, with gradients as normals
    #[arg(long)]
    pub shade: bool,

    /// Ambient light, 0 to 1. This and the next three options need --shade or a scene with light,
    /// and replace the values of the scene. Default: 0.4
    #[arg(long, value_name = "SHARE", value_parser = parse::between(0.0, 1.0))]
    pub ambient: Option<f64>,

    /// Diffuse light, 0 to 1. Default: 0.6
    #[arg(long, value_name = "SHARE", value_parser = parse::between(0.0, 1.0))]
    pub diffuse: Option<f64>,

    /// Specular light, 0 to 1. Default: 0.2
    #[arg(long, value_name = "SHARE", value_parser = parse::between(0.0, 1.0))]
    pub specular: Option<f64>,

    /// Exponent of specular light, 1 (wide highlights) to 1000 (points). Default: 20
    #[arg(long, value_name = "EXPONENT", value_parser = parse::between(1.0, 1000.0))]
    pub shininess: Option<f64>,

    /// Interpolation of values: linear, or nearest for labels (between the labels 1 and 3 there is
    /// no 2). Default: nearest with --preset labels, else linear
    #[arg(long, value_name = "KIND")]
    pub interpolation: Option<Interpolation>,

    /// Integrates colours between two samples (preintegration). Thin shells show no rings, and
    /// steps of up to two voxels are sufficient
    #[arg(long)]
    pub preintegrated: bool,

    /// Distance of samples on a ray, in the unit of the spacing. Default: the distance in the
    /// scene, else half the smallest spacing
    #[arg(long, value_name = "LENGTH", value_parser = parse::positive)]
    pub step: Option<f64>,

    /// Shows only points p with nx*px + ny*py + nz*pz >= offset, at most 6 times. Points are in the
    /// space of the file, with origin, spacing and directions applied
    #[arg(long, value_name = "NX,NY,NZ,OFFSET", value_parser = parse::clip)]
    pub clip: Vec<ClipPlane>,

    /// Shows only a box, in lengths along the axes from the first voxel (index times spacing). Ends
    /// are optional, as in 10:,:,:64
    #[arg(long, value_name = "X0:X1,Y0:Y1,Z0:Z1", value_parser = parse::crop)]
    pub crop: Option<Crop>,

    /// Shifts the samples of each pixel by fixed noise, which hides rings
    #[arg(long)]
    pub jitter: bool,

    /// Transmittance at which a ray ends, 0 to 0.1, and largest error of a colour component. If
    /// ambient + diffuse + specular is above 1, rays end at the transmittance divided by this sum.
    /// 0: rays end at the end of the volume. Default: 2^-19
    #[arg(long, value_name = "SHARE", value_parser = parse::between(0.0_f32, 0.1))]
    pub termination: Option<f32>,
}

/// An isosurface in the volume.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Isosurface")]
pub struct IsosurfaceOptions {
    /// Also shows the isosurface of this value. With --view the value can be changed
    #[arg(long, value_name = "VALUE", value_parser = parse::real)]
    pub iso: Option<f64>,

    /// Opacity of the surface, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = parse::between(0.0, 1.0), requires = "iso")]
    pub iso_opacity: f64,

    /// Colour of the surface: a CSS name, #ff8000 or 1,0.5,0
    #[arg(long, value_name = "COLOUR", default_value = "#ede0b8", value_parser = parse::colour, requires = "iso")]
    pub iso_colour: [f32; 3],
}

impl IsosurfaceOptions {
    /// Material of the isosurface.
    pub fn material(&self) -> Material {
        let colour = Colouring::Plain(self.iso_colour.map(f64::from));
        Material { colour, opacity: self.iso_opacity, ..Material::default() }
    }
}

impl LookOptions {
    /// True for nearest-voxel interpolation.
    pub fn is_nearest(&self) -> bool {
        self.interpolation.map_or(self.preset == Some(Preset::Labels), |kind| kind == Interpolation::Nearest)
    }

    /// True if an option sets a light component.
    pub fn has_light_options(&self) -> bool {
        [self.ambient, self.diffuse, self.specular, self.shininess].iter().any(Option::is_some)
    }

    /// Light of `scene`, else the default light, with the components that options replace.
    pub fn light(&self, scene: Option<Shading>) -> Shading {
        let default = Shading { ambient: 0.4, diffuse: 0.6, specular: 0.2, shininess: 20.0 };
        let Shading { ambient, diffuse, specular, shininess } = scene.unwrap_or(default);
        Shading {
            ambient: self.ambient.unwrap_or(ambient),
            diffuse: self.diffuse.unwrap_or(diffuse),
            specular: self.specular.unwrap_or(specular),
            shininess: self.shininess.unwrap_or(shininess),
        }
    }
}
