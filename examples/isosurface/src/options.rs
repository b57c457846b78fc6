//! Command-line options.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};
use zippy::{Config, Error};
use zippy_io::mesh::{Format, is_index};
use zippy_io::volume::NumpyAxes;

use crate::filters::Filters;
use crate::raw_input::RawInput;
use crate::sizes;
use crate::units::Level;

/// Extracts isosurfaces of a distributed volume as a welded triangle mesh, keeps a part of the
/// volume as cells, or cuts it by a plane.
///
/// The volume is a 3-D global array. Each rank reads its own chunks, finds the cells that the
/// surface crosses and makes their triangles. Vertices on the borders between ranks are shared. The
/// mesh has exactly the topology of the trilinear interpolant, and is the same for every number of
/// ranks except for the order of its vertices. Ranks are threads of this process (--ranks) or
/// processes that an MPI launcher started.
#[derive(Parser, Debug, Clone)]
#[command(name = "isosurface", after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// Number of ranks, as threads of this process. Under an MPI launcher omit it, or give the
    /// number of processes. Default: ZIPPY_RANKS, else 1
    #[arg(long, value_name = "N", value_parser = sizes::ranks)]
    pub ranks: Option<usize>,

    /// Volume to read: NRRD, NIfTI, VTI, MetaImage, NumPy, or raw numbers (see --raw-shape). A file
    /// needs one of --iso, --label, --threshold, --clip, --cut
    #[arg(long, value_name = "FILE", group = "volume_file", conflicts_with_all = ["field", "n"], requires = "operation")]
    input: Option<PathBuf>,

    /// File of the volume, the same as --input
    #[arg(value_name = "FILE", group = "volume_file", conflicts_with_all = ["field", "n"], requires = "operation")]
    positional: Option<PathBuf>,

    /// Name of the point data array to read from a VTI file. Default: the active scalars, else the
    /// first
    #[arg(long, value_name = "NAME", requires = "volume_file", conflicts_with = "raw_shape", help_heading = "Volume")]
    pub array: Option<String>,

    #[command(flatten, next_help_heading = "Volume")]
    pub raw: RawInput,

    /// Order of the indices of NumPy arrays, in C order and in Fortran order: zyx (z is the first
    /// index) or xyz
    #[arg(long, value_name = "ORDER", default_value_t = NumpyAxes::Zyx, help_heading = "Volume")]
    pub axes: NumpyAxes,

    /// Values of a formula instead of a file
    #[arg(long, value_enum, default_value_t = Formula::Tangle, help_heading = "Formula")]
    pub field: Formula,

    /// Samples of the formula along each axis
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = sizes::ranged::<i64, 2, 4096>, help_heading = "Formula")]
    pub n: i64,

    /// Isovalue. Several isovalues, separated by commas or in several --iso, give one surface each,
    /// extracted together (for a picture, kernels extract them one after the other). Default for a
    /// formula: its usual isovalue
    #[arg(long, value_name = "VALUE", value_delimiter = ',', group = "operation", value_parser = Level::parse, help_heading = None)]
    iso: Vec<Level>,

    /// Extracts the surface of one label of a label map, half-way between samples with this integer
    /// and neighbours with other values
    #[arg(long, value_name = "NUMBER", value_parser = sizes::whole::<i64>, requires = "volume_file", group = "operation", conflicts_with_all = ["iso", "threshold", "clip", "cut"], help_heading = None)]
    pub label: Option<i64>,

    #[command(flatten)]
    pub filters: Filters,

    /// Adds a layer of samples around the volume, so that every surface is closed, between the
    /// outermost samples and one voxel outside. The layer has the smallest value of the volume, or,
    /// if that is not below every isovalue, a value as far below the lowest isovalue as the
    /// smallest value is above it: a volume of one value is closed half a voxel outside. With
    /// --clip V, the kept part ends at the surface of V
    #[arg(long, conflicts_with_all = ["threshold", "cut"], help_heading = None)]
    pub pad: bool,

    /// Computes a normal at each vertex, from differences of neighbouring samples
    #[arg(long, conflicts_with_all = ["threshold", "clip", "cut"], help_heading = None)]
    pub normals: bool,

    /// Writes the mesh to a .ply, .stl, .obj, .vtp or .vtu file, or to .pvtp or .pvtu for an index
    /// and one file for each rank; cells of --threshold and --clip need .vtu or .pvtu. With several
    /// isovalues each has a file with the isovalue in its name: mesh-0.2.ply and mesh-0.5.ply for
    /// --output mesh.ply --iso 0.2,0.5
    #[arg(long, value_name = "FILE", help_heading = None)]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub picture: PictureOptions,

    /// Also reports edges, components, area and volume
    #[arg(long, help_heading = "Checks and report")]
    pub verify: bool,

    /// Prints one JSON object for each surface
    #[arg(long, help_heading = "Checks and report")]
    pub json: bool,
}

/// Options of `--render`.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Picture")]
pub(crate) struct PictureOptions {
    /// Renders the surfaces of all isovalues into one PNG
    #[arg(long, value_name = "FILE", conflicts_with_all = ["threshold", "clip", "cut"], help_heading = None)]
    pub render: Option<PathBuf>,

    /// Also renders the volume
    #[arg(long, requires = "render")]
    pub with_volume: bool,

    /// Opacity of the surfaces, 0 to 1, one for each isovalue; the last one holds for all later
    /// isovalues. Default: 1
    #[arg(long, value_name = "SHARE", value_delimiter = ',', requires = "render", value_parser = parse_opacity)]
    pub opacity: Vec<f64>,

    /// Colours the surfaces by another volume of the same shape, sample by sample, from its
    /// smallest value (dark) to its largest (bright). A warning reports samples at other positions
    /// than those of --input
    #[arg(long, value_name = "FILE", requires = "render")]
    pub colour_by: Option<PathBuf>,

    /// Width and height of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "800x600", requires = "render", value_parser = sizes::pixels)]
    pub size: (u32, u32),
}

impl PictureOptions {
    fn check(&self, isovalues: usize) -> Result<(), Error> {
        if self.opacity.len() > isovalues {
            let text = format!("--opacity has {} values for {isovalues} isovalues", self.opacity.len());
            return Err(Error::program(text));
        }
        let Some(path) = &self.render else { return Ok(()) };
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")) {
            return Ok(());
        }
        let problem = "pictures are PNG files; give a name that ends in .png";
        Err(Error::program(format!("--render {}: {problem}", path.display())))
    }
}

fn parse_opacity(text: &str) -> Result<f64, String> {
    let number = sizes::real(text)?;
    if (0.0..=1.0).contains(&number) { Ok(number) } else { Err(format!("{number} is not 0 to 1")) }
}

const AFTER_HELP: &str = "\
Examples:
  isosurface --ranks 4 --field tangle --n 128 --iso 0.2 --verify
  isosurface --input tooth.nrrd --iso 900.37 --pad --verify --json
  isosurface engine.nrrd --iso 50.5,105.5,150.5
  isosurface engine.raw --raw-shape 256x256x128 --raw-type u8 --iso 105.5 --output engine.ply
  isosurface segmentation.nii.gz --label 2 --pad --verify --output kidney.stl
  isosurface --ranks 4 --input engine.nrrd --iso 50.5,180.5 --opacity 0.3,1 --render engine.png
  isosurface --input engine.nrrd --iso 105.5 --render engine.png --with-volume
  isosurface --input engine.nrrd --clip 105.5 --verify --output engine.vtu
  isosurface --input tooth.nrrd --threshold 700,900 --output dentine.vtu
  isosurface --field torus --cut 0,0,1,0.1 --verify --output section.vtp";

/// Test fields.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Formula {
    /// Eight blobs that grow together, over (-3, 3) along each axis; isovalues of about 0 to 7
    Tangle,
    /// Random samples from 0 to 1, with many ambiguous cells
    Noise,
    /// 0.7 minus the distance from the middle, over (-1, 1) along each axis
    Sphere,
    /// A ring around the z axis, of radii 0.55 and 0.25, over (-1, 1) along each axis
    Torus,
}

impl Options {
    /// Checks options that clap does not check.
    pub(crate) fn check(&self) -> zippy::Result<()> {
        self.filters.check(self.output.as_deref())?;
        self.picture.check(self.isovalues().len())?;
        match &self.output {
            Some(path) if !is_index(path) => Ok(Format::of(path).map(drop)?),
            _ => Ok(()),
        }
    }

    /// The volume file of `--input` or of the positional argument.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.input.as_ref().or(self.positional.as_ref())
    }

    /// Checks before the work that the output files can be written. Local.
    pub(crate) fn check_outputs(&self) -> Result<(), Error> {
        let mut files = self.output.iter().chain(&self.picture.render);
        files.try_for_each(|path| zippy_files::check_output(path)).map_err(Error::from)
    }

    /// Levels for comparison with samples: those of a filter, or the isovalues.
    pub(crate) fn levels(&self) -> Vec<Level> {
        self.filters.levels().unwrap_or_else(|| self.isovalues())
    }

    pub(crate) fn isovalues(&self) -> Vec<Level> {
        let isovalue = match self.field {
            // The field of a label is 1 in the label and 0 elsewhere.
            _ if self.label.is_some() => 0.5,
            _ if !self.iso.is_empty() => return self.iso.clone(),
            Formula::Tangle => 0.2,
            Formula::Noise => 0.5,
            Formula::Sphere | Formula::Torus => 0.0,
        };
        vec![isovalue.into()]
    }

    pub(crate) fn mesh_file(&self, isovalue: Level) -> Option<PathBuf> {
        let path = self.output.as_ref()?;
        if self.iso.len() < 2 {
            return Some(path.clone());
        }
        let mut name = path.file_stem().unwrap_or_default().to_os_string();
        name.push(format!("-{isovalue}."));
        name.push(path.extension().unwrap_or_default());
        Some(path.with_file_name(name))
    }

    /// Configuration of the world: `--ranks`, else the environment.
    pub(crate) fn config(&self) -> Config {
        match self.ranks {
            Some(ranks) => Config::threads(ranks),
            None => Config::new(),
        }
    }
}
