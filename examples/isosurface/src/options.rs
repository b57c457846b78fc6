//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};
use zippy::{Config, Error};
use zippy_io::mesh::{Format, is_index};
use zippy_io::volume::NumpyAxes;

use crate::filters::Filters;
use crate::raw_input::RawInput;
use crate::sizes;
use crate::units::Level;

/// Extracts isosurfaces of a volume that is spread over several ranks, as one welded triangle mesh; or keeps a part of it, as
/// cells, or a section.
///
/// The volume is cut over the ranks as a 3-D global array; each rank reads its own part, finds the cells that the surface
/// crosses and makes their triangles. Vertices on the borders between ranks are shared. The mesh has exactly the topology
/// of the trilinear interpolant, and is the same for every number of ranks but for the order of its vertices. Ranks are
/// threads of this process (--ranks), or processes where an MPI launcher started them.
#[derive(Parser, Debug, Clone)]
#[command(name = "isosurface", after_help = AFTER)]
pub struct Options {
    /// Number of ranks, as threads of this process. Under an MPI launcher leave it out, or give its number of processes.
    /// Default: ZIPPY_RANKS, else 1
    #[arg(long, value_name = "N", value_parser = sizes::ranks)]
    pub ranks: Option<usize>,

    /// Volume to read: NRRD, NIfTI, VTI, MetaImage, NumPy, or raw numbers (see --raw-shape). A file needs one of --iso, --label,
    /// --threshold, --clip, --cut
    #[arg(long, value_name = "FILE", group = "volume_file", conflicts_with_all = ["field", "n"], requires = "what")]
    input: Option<PathBuf>,

    /// File of the volume, the same as --input
    #[arg(value_name = "FILE", group = "volume_file", conflicts_with_all = ["field", "n"], requires = "what")]
    positional: Option<PathBuf>,

    /// Name of the point data array to read from a VTI file. Default: the active scalars, else the first
    #[arg(long, value_name = "NAME", requires = "volume_file", conflicts_with = "raw_shape")]
    pub array: Option<String>,

    #[command(flatten)]
    pub raw: RawInput,

    /// How the indices of NumPy arrays are called, the first one first, in C order and in Fortran order: zyx or xyz
    #[arg(long, value_name = "ORDER", default_value_t = NumpyAxes::Zyx)]
    pub axes: NumpyAxes,

    /// Values of a formula instead of a file
    #[arg(long, value_enum, default_value_t = Formula::Tangle)]
    pub field: Formula,

    /// Samples of the formula along each axis
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = sizes::ranged::<i64, 2, 4096>)]
    pub n: i64,

    /// The isovalue; several, separated by commas or each behind an --iso, give a surface each, all extracted at once
    /// (for a picture by kernels, one after the other). A formula has one of its own
    #[arg(long, value_name = "VALUE", value_delimiter = ',', group = "what", value_parser = Level::parse)]
    iso: Vec<Level>,

    /// Extracts the surface of one label of a label map, half-way between samples that have this whole number and their
    /// neighbours that do not
    #[arg(long, value_name = "NUMBER", value_parser = sizes::whole::<i64>, requires = "volume_file", group = "what", conflicts_with_all = ["iso", "threshold", "clip", "cut"])]
    pub label: Option<i64>,

    #[command(flatten)]
    pub filters: Filters,

    /// Adds a layer of samples around the volume, so that every surface is closed, between the
    /// outermost samples and a voxel further out. The layer has the smallest value of the volume;
    /// if that is not below every isovalue, the number as far below the least one: a volume of one
    /// value is closed half a voxel out. With --clip V the kept part ends where the surface of V
    /// does
    #[arg(long, conflicts_with_all = ["threshold", "cut"])]
    pub pad: bool,

    /// Gives each vertex a normal, from differences of neighbouring samples
    #[arg(long, conflicts_with_all = ["threshold", "clip", "cut"])]
    pub normals: bool,

    /// Writes the mesh: a name that ends in .ply, .stl, .obj, .vtp or .vtu, or in .pvtp or .pvtu for an index and a file a
    /// rank; cells of --threshold and --clip need .vtu or .pvtu. Of several isovalues each gets a file, with the isovalue in
    /// its name: mesh-0.2.ply and mesh-0.5.ply for --output mesh.ply --iso 0.2,0.5
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub picture: PictureOptions,

    /// Counts edges, components, area and volume, too
    #[arg(long)]
    pub verify: bool,

    /// Prints a JSON object a surface
    #[arg(long)]
    pub json: bool,
}

/// How the surfaces are drawn.
#[derive(Args, Debug, Clone)]
pub struct PictureOptions {
    /// Draws the surfaces into a PNG, those of all isovalues together
    #[arg(long, value_name = "FILE", conflicts_with_all = ["threshold", "clip", "cut"])]
    pub render: Option<PathBuf>,

    /// Draws the volume, too
    #[arg(long, requires = "render")]
    pub with_volume: bool,

    /// How much surfaces hide of what lies behind them, 0 to 1, for each isovalue; the last one holds for all that follow.
    /// Default: 1
    #[arg(long, value_name = "SHARE", value_delimiter = ',', requires = "render", value_parser = share)]
    pub opacity: Vec<f64>,

    /// Colours the surfaces by another volume of the same shape, sample by sample, from its least
    /// value (dark) to its largest (bright). A warning reports samples with other positions than
    /// those of --input
    #[arg(long, value_name = "FILE", requires = "render")]
    pub colour_by: Option<PathBuf>,

    /// Pixels of the picture
    #[arg(long, value_name = "WxH", default_value = "800x600", requires = "render", value_parser = sizes::pixels)]
    pub size: (u32, u32),
}

impl PictureOptions {
    fn check(&self, isovalues: usize) -> Result<(), Error> {
        if self.opacity.len() > isovalues {
            let text = format!("--opacity has {} shares for {isovalues} isovalues", self.opacity.len());
            return Err(Error::program(text));
        }
        let Some(path) = &self.render else { return Ok(()) };
        match path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")) {
            true => Ok(()),
            false => {
                let problem = "pictures are PNG files; give it a name that ends in .png";
                Err(Error::program(format!("--render {}: {problem}", path.display())))
            }
        }
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = sizes::real(text)?;
    if (0.0..=1.0).contains(&number) { Ok(number) } else { Err(format!("{number} is not 0 to 1")) }
}

const AFTER: &str = "\
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

/// Formulas that are known well.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formula {
    /// Eight blobs that grow together, over (-3, 3) along each axis; isovalues of about 0 to 7
    Tangle,
    /// Random samples of 0 to 1: as many ambiguous cells as can be
    Noise,
    /// 0.7 less the distance from the middle, over (-1, 1) along each axis
    Sphere,
    /// A ring around the z axis, of radii 0.55 and 0.25, over (-1, 1) along each axis
    Torus,
}

impl Options {
    /// # Errors
    /// The output is of no known format, or of one that cannot have what is wanted; a filter without its numbers.
    pub fn check(&self) -> zippy::Result<()> {
        self.filters.check(self.output.as_deref())?;
        self.picture.check(self.isovalues().len())?;
        match &self.output {
            Some(path) if !is_index(path) => Ok(Format::of(path).map(drop)?),
            _ => Ok(()),
        }
    }

    /// The file, however it was given.
    pub fn file(&self) -> Option<&PathBuf> {
        self.input.as_ref().or(self.positional.as_ref())
    }

    /// Finds what is wrong with the files that are to be written before the work is done. Local.
    ///
    /// # Errors
    /// A missing folder, or one in which nothing can be written.
    pub fn check_outputs(&self) -> Result<(), Error> {
        let mut files = self.output.iter().chain(&self.picture.render);
        files.try_for_each(|path| zippy_io::check_output(path)).map_err(Error::from)
    }

    /// The numbers that samples are compared with.
    pub fn levels(&self) -> Vec<Level> {
        self.filters.levels().unwrap_or_else(|| self.isovalues())
    }

    /// The isovalues.
    pub fn isovalues(&self) -> Vec<Level> {
        let isovalue = match self.field {
            // Of a field of 1 in the label and 0 elsewhere.
            _ if self.label.is_some() => 0.5,
            _ if !self.iso.is_empty() => return self.iso.clone(),
            Formula::Tangle => 0.2,
            Formula::Noise => 0.5,
            Formula::Sphere | Formula::Torus => 0.0,
        };
        vec![isovalue.into()]
    }

    /// The file of a surface.
    pub fn mesh_file(&self, isovalue: Level) -> Option<PathBuf> {
        let path = self.output.as_ref()?;
        if self.iso.len() < 2 {
            return Some(path.clone());
        }
        let mut name = path.file_stem().unwrap_or_default().to_os_string();
        name.push(format!("-{isovalue}."));
        name.push(path.extension().unwrap_or_default());
        Some(path.with_file_name(name))
    }

    /// Where the ranks run.
    pub fn config(&self) -> Config {
        match self.ranks {
            Some(ranks) => Config::threads(ranks),
            None => Config::new(),
        }
    }
}
