//! Command-line options.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser};
use zippy::Config;
use zippy_io::volume::NumpyAxes;
use zippy_render::compositing::{Algorithm, Encoding};
use zippy_render::volume::{Mode, RendererOptions};

use super::appearance::{CameraOptions, IsosurfaceOptions, LookOptions};
use super::choices::{AFTER_HELP, Depth, Pixel, Projection};
use super::cut::{self, Cut, Decomposition};
use super::movie::{self, CameraPath};
use super::output::{self, Output};
use super::parse;
use super::raw_input::RawInput;
use super::sizes;
use super::words::with_negative_numbers;

/// Renders a volume on several ranks into one picture or a movie.
///
/// The volume is a 3-D global array. Each rank reads its own chunks and casts rays through them on
/// its GPU; compositing blends the partial pictures in depth order. Without --fast the picture has
/// the same bits for every number of ranks and every way to cut the volume. Ranks are threads of
/// this process (--ranks) or processes that an MPI launcher started.
#[derive(Parser, Debug, Clone)]
#[command(name = "volume", after_help = AFTER_HELP)]
pub struct Options {
    /// Number of ranks, as threads of this process. Under an MPI launcher omit it, or give the
    /// number of processes. Default: ZIPPY_RANKS, else 1
    #[arg(long, value_name = "N", value_parser = parse::ranks, display_order = 0)]
    pub ranks: Option<usize>,

    /// Shows the volume in a window with controls for camera, cuts and colours, instead of writing
    /// a picture. Under an MPI launcher the process of rank 0 opens the window
    #[arg(
        long,
        display_order = 5,
        conflicts_with_all = ["output", "movie", "repeat", "compare_single", "reference", "json"]
    )]
    pub view: bool,

    #[command(flatten)]
    pub volume: VolumeOptions,
    #[command(flatten)]
    pub picture: PictureOptions,
    #[command(flatten)]
    pub look: LookOptions,
    #[command(flatten)]
    pub camera: CameraOptions,
    #[command(flatten)]
    pub isosurface: IsosurfaceOptions,
    #[command(flatten)]
    pub movie: MovieOptions,
    #[command(flatten)]
    pub division: DivisionOptions,
    #[command(flatten)]
    pub check: CheckOptions,
    #[command(flatten)]
    pub research: ResearchOptions,
}

/// The volume to render.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Volume")]
pub struct VolumeOptions {
    /// Volume file: NRRD (attached .nrrd or detached .nhdr), NIfTI (.nii, .nii.gz), VTK ImageData
    /// (.vti), NumPy (.npy), MetaImage (.mha, .mhd), or raw numbers (see --raw-shape). Each rank
    /// reads its own part. Origin, spacing, directions, slope and intercept of the file are
    /// applied. NaN and -infinity are drawn as the smallest value (transparent in every preset),
    /// infinity as the largest. Default: a computed phantom
    #[arg(long, value_name = "FILE", group = "volume_file", help_heading = None, display_order = 1)]
    pub input: Option<PathBuf>,

    /// Volume file, the same as --input
    #[arg(value_name = "FILE", group = "volume_file", help_heading = None)]
    pub positional: Option<PathBuf>,

    /// Size of the phantom in voxels: one number for a cube, or XxYxZ (X,Y,Z)
    #[arg(long, value_name = "XxYxZ", default_value = "128", value_parser = sizes::extents, conflicts_with = "volume_file")]
    pub phantom_size: [i64; 3],

    /// Numbers in each voxel, adjacent in the file (in NumPy the last axis). 1: the value sets
    /// colour and opacity; 2: the first sets the colour, the second the opacity; 4: red, green,
    /// blue, and the value for the opacity. Default: as the file says, else 1
    #[arg(long, value_name = "1|2|4", value_parser = parse::components, requires = "volume_file")]
    pub components: Option<usize>,

    /// Name of the point-data array to draw from a VTI file. Default: the active scalars, else the
    /// first array
    #[arg(long, value_name = "NAME", requires = "volume_file", conflicts_with = "raw_shape")]
    pub array: Option<String>,

    /// Order of the indices of a NumPy array, in C order and in Fortran order: zyx (z is the first
    /// index) or xyz
    #[arg(long, value_name = "ORDER", default_value_t = NumpyAxes::Zyx, requires = "volume_file", conflicts_with = "raw_shape")]
    pub axes: NumpyAxes,

    #[command(flatten)]
    pub raw: RawInput,
}

impl VolumeOptions {
    /// The volume file of `--input` or of the positional argument.
    pub fn file(&self) -> Option<&PathBuf> {
        self.input.as_ref().or(self.positional.as_ref())
    }
}

/// The picture file.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Picture")]
pub struct PictureOptions {
    /// Picture file: .png; .npy for floats (height, width, RGBA, colours multiplied by alpha); for
    /// movies .apng, or numbered frames as in dir/frame_%04d.png. Default: volume.png, for movies
    /// volume.apng
    #[arg(
        long,
        value_name = "FILE",
        value_parser = OsStringValueParser::new().try_map(output::parse_output),
        help_heading = None,
        display_order = 2
    )]
    pub output: Option<Output>,

    /// Width and height in pixels, 1 to 16384 each. Default: the size in the scene, else 512x512
    #[arg(long, value_name = "WxH", value_parser = sizes::pixels, help_heading = None, display_order = 3)]
    pub size: Option<(u32, u32)>,

    /// Bits of each component in a PNG. Default: 8
    #[arg(long, value_name = "BITS")]
    pub depth: Option<Depth>,

    /// Writes a PNG with an alpha channel instead of a background
    #[arg(long, conflicts_with = "background")]
    pub alpha: bool,

    /// Background colour: a CSS name (black, steelblue), #rrggbb, or red,green,blue from 0 to 1.
    /// Default: the background of the scene, else black
    #[arg(long, value_name = "COLOUR", value_parser = parse::colour)]
    pub background: Option<[f32; 3]>,
}

/// A movie instead of one picture.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Movie")]
pub struct MovieOptions {
    /// Camera path: orbit (once around), rock (30 degrees to both sides), zoom (in and out), or a
    /// JSON file of key frames such as examples/volume/keyframes.json: {"closed": false,
    /// "keyframes": [{"time": 0, "azimuth": -47, "elevation": 29, "zoom": 1, "focal_point": [x, y,
    /// z]}, ..]}. A path has at least two key frames. Each needs only an azimuth, times must
    /// increase, and focal_point is in all key frames or in none. A closed path ends with its first
    /// key frame, a multiple of 360 degrees of azimuth later
    #[arg(long, value_name = "orbit|rock|zoom|FILE.json", value_parser = OsStringValueParser::new().try_map(movie::parse_path))]
    pub movie: Option<CameraPath>,

    /// Number of frames of the movie
    #[arg(long, value_name = "N", default_value_t = 60, requires = "movie", value_parser = sizes::ranged::<u32, 1, 100_000>)]
    pub frames: u32,

    /// Frames per second of an .apng, 0.1 to 1000. Default: 24
    #[arg(long, value_name = "RATE", requires = "movie", value_parser = parse::between(0.1, 1000.0))]
    pub fps: Option<f64>,
}

/// Decomposition of the volume into chunks, and compositing of the partial pictures.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Division among ranks")]
pub struct DivisionOptions {
    /// Cuts the volume into a grid. Each axis has a number of equal parts, or the sizes of its
    /// parts joined by +; axes are joined by x or a comma. "auto": near-cubic chunks, one for each
    /// rank
    #[arg(long, value_name = "CUTS", default_value = "auto", value_parser = cut::parse_split)]
    pub split: Cut,

    /// Merges adjacent bricks of a rank before compositing. This is faster, but pictures of
    /// different cuts differ by at most 4e-6, or by --termination + 2e-6 if that is larger
    #[arg(long)]
    pub fast: bool,
}

/// Measurements, comparisons and the report.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Checks and report")]
pub struct CheckOptions {
    /// Number of times to render. The report has the phases of the last frame, and the total time
    /// of the first frame and of later frames. Compile time is not included in them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = sizes::ranged::<u32, 1, 10_000>, conflicts_with = "movie")]
    pub repeat: u32,

    /// Renders again on one rank in a separate world with the volume uncut, and fails unless the
    /// pictures have the same bits. With --fast it fails if a component differs by more than the
    /// bound of --fast
    #[arg(long, conflicts_with = "movie")]
    pub compare_single: bool,

    /// Compares the picture over its background with this 8-bit PNG of the same size and reports
    /// the difference
    #[arg(long, value_name = "PNG", conflicts_with = "movie")]
    pub reference: Option<PathBuf>,

    /// Prints one JSON object as the last and only line of standard output; text for people goes to
    /// standard error. psnr_db is null for identical pictures
    #[arg(long)]
    pub json: bool,

    /// Under an MPI launcher every process reports a failure, not only the process of the first
    /// failed rank
    #[arg(long)]
    pub verbose: bool,
}

/// Decompositions and compositing for research.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Research")]
pub struct ResearchOptions {
    /// Cuts the volume into boxes that form no grid. kd:N: a k-d tree with N leaves; kd: a k-d tree
    /// with --chunks-per-rank leaves for each rank; bars: layers of bars in alternating directions;
    /// ell: nested L-shapes. The region of a rank is not convex with bars and ell
    #[arg(long, value_name = "kd[:N]|bars|ell", conflicts_with = "split", value_parser = cut::parse_cut)]
    pub cut: Option<Cut>,

    /// Chunks for each rank. Default: 1; for --cut bars 3, at least 2
    #[arg(long, value_name = "N", conflicts_with = "split", value_parser = sizes::ranged::<u16, 1, 65_535>)]
    pub chunks_per_rank: Option<u16>,

    /// Number of ranks, the last ones, without a part of the volume
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = sizes::whole::<usize>)]
    pub idle_ranks: usize,

    /// Compositing algorithm. direct (direct send): each layer goes to the owners of the tiles of
    /// the picture; swap (binary swap): pairs exchange halves; radix:K,K,.. (radix-k): groups of K
    /// exchange parts, one group size for each round. swap and radix hold a whole picture for each
    /// layer and are best with --fast
    #[arg(long, value_name = "swap|radix:K,..|direct", default_value = "direct", value_parser = parse::algorithm)]
    pub algorithm: Algorithm,

    /// Side in cells of the bricks that rays are cut at, a multiple of 8. Default: a quarter of the
    /// longest axis, 32 to 128; with --fast a sixteenth, 8 to 128, so that parts follow the chunks
    #[arg(long, value_name = "N", value_parser = parse::brick)]
    pub brick: Option<u16>,

    /// Encoding of pixels in messages: dense, runs (omits empty pixels), auto (the smaller one)
    #[arg(long, value_name = "auto|dense|runs", default_value = "auto", value_parser = parse::encoding)]
    pub encoding: Encoding,

    /// Pixel format during compositing
    #[arg(long, value_name = "KIND", default_value = "f32")]
    pub pixel: Pixel,
}

impl Options {
    /// Parses a command line.
    ///
    /// # Errors
    /// An option that is malformed, unknown or contradicts another option. The message names the
    /// correction.
    pub fn read(words: impl IntoIterator<Item = impl Into<std::ffi::OsString>>) -> Result<Self, clap::Error> {
        let options = Self::try_parse_from(with_negative_numbers(words))?;
        match options.contradiction() {
            None => Ok(options),
            Some(message) => Err(Self::command().error(ErrorKind::ArgumentConflict, message)),
        }
    }

    /// Message for options that contradict each other in a way that clap does not check.
    fn contradiction(&self) -> Option<String> {
        let PictureOptions { output, depth, alpha, background, .. } = &self.picture;
        let floats =
            matches!(output, Some(Output::Still(output::Format::Npy, _) | Output::Numbered(output::Format::Npy, _)));
        let wrong = match (&self.movie.movie, output) {
            (None, Some(Output::Animated(_))) => "an .apng file is a movie: give --movie, or a .png or .npy file",
            (None, Some(Output::Numbered(..))) => "numbered frames are a movie: give --movie, or a name without %",
            (Some(_), Some(Output::Still(..))) => {
                "a movie goes to an .apng file or to numbered frames, as in frame_%04d.png"
            }
            (Some(_), Some(Output::Numbered(..))) if self.movie.fps.is_some() => {
                "--fps is for .apng; numbered frames have no rate"
            }
            _ if floats && (depth.is_some() || *alpha || background.is_some()) => {
                "--depth, --alpha and --background are for PNG; .npy always holds 32-bit floats with alpha"
            }
            _ if self.camera.projection == Projection::Parallel && self.camera.fov.is_some() => {
                "--fov is for --projection perspective; --zoom scales a parallel one"
            }
            _ if self.division.fast && self.research.pixel == Pixel::Rgba8 && self.check.compare_single => {
                "--pixel rgba8 rounds at every blend, so --compare-single with --fast has no bound: use --pixel f32, or no --fast"
            }
            _ if self.look.preintegrated && self.look.is_nearest() => {
                "--preintegrated needs linear interpolation: give --interpolation linear, or leave out --preintegrated"
            }
            _ if self.look.has_light_options() && !self.look.shade && self.camera.scene.is_none() => {
                "--ambient, --diffuse, --specular and --shininess need --shade"
            }
            _ => return self.decomposition_contradiction().map(String::from),
        };
        Some(wrong.into())
    }

    fn decomposition_contradiction(&self) -> Option<&'static str> {
        match (&self.research.cut, &self.research.chunks_per_rank) {
            (Some(Cut::Tree(Some(_))), Some(_)) => Some("kd:N gives the number of chunks: leave out --chunks-per-rank"),
            (Some(Cut::LShapes), Some(_)) => Some("ell has two chunks for each rank: leave out --chunks-per-rank"),
            (Some(Cut::Bars), Some(1)) => Some("bars need two layers or more: give at least --chunks-per-rank 2"),
            _ => None,
        }
    }

    /// Configuration of the world: `--ranks`, else the environment.
    pub fn config(&self) -> Config {
        self.ranks.map_or_else(Config::new, Config::threads)
    }

    /// Decomposition of the volume over the ranks.
    pub fn decomposition(&self) -> Decomposition {
        let ResearchOptions { cut, chunks_per_rank, idle_ranks, .. } = &self.research;
        let cut = cut.clone().unwrap_or_else(|| self.division.split.clone());
        Decomposition { cut, per_rank: chunks_per_rank.map(usize::from), idle: *idle_ranks }
    }

    /// Renderer options for voxels of `components` numbers.
    pub fn renderer(&self, components: usize) -> RendererOptions {
        let ResearchOptions { algorithm, brick, encoding, pixel, .. } = &self.research;
        RendererOptions {
            mode: if self.division.fast { Mode::Fast } else { Mode::Reproducible },
            brick: brick.map(i64::from),
            components,
            name: None,
            algorithm: algorithm.clone(),
            encoding: *encoding,
            pixel: (*pixel).into(),
        }
    }

    /// Output file or files: `--output`, else the default name.
    pub fn output(&self) -> Output {
        self.picture.output.clone().unwrap_or_else(|| match self.movie.movie {
            Some(_) => Output::Animated("volume.apng".into()),
            None => Output::Still(output::Format::Png, "volume.png".into()),
        })
    }
}
