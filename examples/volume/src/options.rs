//! The command line.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser};
use zippy::Config;
use zippy_io::volume::NumpyAxes;
use zippy_render::compositing::{Algorithm, Encoding};
use zippy_render::volume::{Mode, RendererOptions};

use super::appearance::{CameraOptions, IsosurfaceOptions, LookOptions};
use super::choices::{AFTER, Depth, Pixel, Projection};
use super::cut::{self, Cut, Decomposition};
use super::movie::{self, Path};
use super::output::{self, Output};
use super::parse;
use super::raw_input::RawInput;
use super::sizes;
use super::words::with_negative_numbers;

/// Renders a volume that is spread over several ranks into one picture or a movie.
///
/// The volume is cut over the ranks as a 3-D global array; each rank reads its own part and casts rays through it on
/// its GPU; the partial pictures are blended in depth order. Unless --fast is given, the picture is the same bits for
/// every number of ranks and every way to cut the volume. Ranks are threads of this process (--ranks), or processes
/// where an MPI launcher started them.
#[derive(Parser, Debug, Clone)]
#[command(name = "volume", after_help = AFTER)]
pub struct Options {
    /// Number of ranks, as threads of this process. Under an MPI launcher leave it out, or give its number of
    /// processes. Default: ZIPPY_RANKS, else 1
    #[arg(long, value_name = "N", value_parser = parse::ranks)]
    pub ranks: Option<usize>,

    /// Shows the volume in a window, to be turned, cut and coloured, instead of writing a picture. Under an MPI
    /// launcher the process of rank 0 has the window
    #[arg(long, conflicts_with_all = ["output", "movie", "repeat", "compare_single", "reference", "json"])]
    pub view: bool,

    #[command(flatten)]
    pub volume: VolumeOptions,
    #[command(flatten)]
    pub camera: CameraOptions,
    #[command(flatten)]
    pub look: LookOptions,
    #[command(flatten)]
    pub isosurface: IsosurfaceOptions,
    #[command(flatten)]
    pub picture: PictureOptions,
    #[command(flatten)]
    pub movie: MovieOptions,
    #[command(flatten)]
    pub spread: SpreadOptions,
    #[command(flatten)]
    pub blend: BlendOptions,
    #[command(flatten)]
    pub check: CheckOptions,
}

/// What is looked at.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Volume")]
pub struct VolumeOptions {
    /// The volume's file: NRRD (attached .nrrd or detached .nhdr), NIfTI (.nii, .nii.gz), VTK ImageData (.vti), NumPy
    /// (.npy), MetaImage (.mha, .mhd), or raw numbers (see --raw-shape). Each rank reads its own part. It is drawn where
    /// the file places it: origin, spacing, directions, slope and intercept are applied. NaN and -infinity look like
    /// the smallest value (transparent in every preset), infinity like the largest. Default: a phantom made by formula
    #[arg(long, value_name = "FILE", group = "volume_file")]
    pub input: Option<PathBuf>,

    /// The volume's file, as --input
    #[arg(value_name = "FILE", group = "volume_file")]
    pub positional: Option<PathBuf>,

    /// Voxels of the phantom: one number for a cube, or XxYxZ (X,Y,Z)
    #[arg(long, value_name = "XxYxZ", default_value = "128", value_parser = sizes::extents, conflicts_with = "volume_file")]
    pub phantom_size: [i64; 3],

    /// Numbers in each voxel, neighbours in the file, of NumPy the last axis. 1: colour and opacity by the value; 2: colour by the first,
    /// opacity by the second; 4: red, green, blue, and opacity by the fourth. Default: what the file says, else 1
    #[arg(long, value_name = "1|2|4", value_parser = parse::components, requires = "volume_file")]
    pub components: Option<usize>,

    /// Of a VTI file's arrays of point data, the one to draw. Default: the active scalars, else the first
    #[arg(long, value_name = "NAME", requires = "volume_file", conflicts_with = "raw_shape")]
    pub array: Option<String>,

    /// How the indices of a NumPy array are called, the first one first, in C order and in Fortran order: zyx or xyz
    #[arg(long, value_name = "ORDER", default_value_t = NumpyAxes::Zyx, requires = "volume_file", conflicts_with = "raw_shape")]
    pub axes: NumpyAxes,

    #[command(flatten)]
    pub raw: RawInput,
}

impl VolumeOptions {
    /// The file, however it was given.
    pub fn file(&self) -> Option<&PathBuf> {
        self.input.as_ref().or(self.positional.as_ref())
    }
}

/// What is written.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Picture")]
pub struct PictureOptions {
    /// The file: .png; .npy for the floats (height, width, RGBA, colours multiplied by alpha); for movies .apng, or
    /// numbered frames as in dir/frame_%04d.png. Default: volume.png, for movies volume.apng
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().try_map(output::output))]
    pub output: Option<Output>,

    /// Pixels across and down, 1 to 16384 each. Default: what the scene says, else 512x512
    #[arg(long, value_name = "WxH", value_parser = sizes::pixels)]
    pub size: Option<(u32, u32)>,

    /// Bits of each component in a PNG. Default: 8
    #[arg(long, value_name = "BITS")]
    pub depth: Option<Depth>,

    /// Keeps transparency in a PNG instead of a background
    #[arg(long, conflicts_with = "background")]
    pub alpha: bool,

    /// Colour behind the volume: a name of CSS (black, steelblue), #rrggbb, or red,green,blue from 0 to 1. Default: the scene's, else black
    #[arg(long, value_name = "COLOUR", value_parser = parse::colour)]
    pub background: Option<[f32; 3]>,
}

/// Many pictures.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Movie")]
pub struct MovieOptions {
    /// Moves the camera: orbit (once around), rock (30 degrees to either side), zoom (in and out), or along the key
    /// frames of a JSON file, as examples/volume/keyframes.json: {"closed": false, "keyframes": [{"time": 0, "azimuth":
    /// -47, "elevation": 29, "zoom": 1, "focal_point": [x, y, z]}, ..]}. At least two key frames; each needs an azimuth
    /// only, but times must grow, all or none have a focal_point, and a closed path ends with its first key frame,
    /// whole turns of azimuth on
    #[arg(long, value_name = "orbit|rock|zoom|FILE.json", value_parser = OsStringValueParser::new().try_map(movie::path))]
    pub movie: Option<Path>,

    /// Frames of the movie
    #[arg(long, value_name = "N", default_value_t = 60, requires = "movie", value_parser = sizes::ranged::<u32, 1, 100_000>)]
    pub frames: u32,

    /// Frames that an .apng shows in a second, 0.1 to 1000. Default: 24
    #[arg(long, value_name = "RATE", requires = "movie", value_parser = parse::between(0.1, 1000.0))]
    pub fps: Option<f64>,
}

/// Who has what.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Decomposition")]
pub struct SpreadOptions {
    /// Cuts the volume axis by axis: for each a number of even parts, or the parts' sizes joined by +; axes joined by x
    /// or a comma. "auto": near-cubic chunks, one for each rank
    #[arg(long, value_name = "CUTS", default_value = "auto", value_parser = cut::cut)]
    pub split: Cut,

    /// Cuts the volume as no grid does. kd:N: a k-d tree with N leaves; kd: with --chunks-per-rank leaves for each
    /// rank; bars: a pile of bars, laid across each other; ell: nested L-shapes. What a rank has of bars and ell is not
    /// convex
    #[arg(long, value_name = "kd[:N]|bars|ell", conflicts_with = "split", value_parser = cut::irregular)]
    pub cut: Option<Cut>,

    /// Chunks for each rank: near-cubic, or leaves of kd, or bars (at least 2). Default: 1, bars: 3
    #[arg(long, value_name = "N", conflicts_with = "split", value_parser = sizes::ranged::<u16, 1, 65_535>)]
    pub chunks_per_rank: Option<u16>,

    /// So many ranks, the last ones, have no part of the volume
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = sizes::whole::<usize>)]
    pub idle_ranks: usize,
}

/// How partial pictures become one.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Compositing")]
pub struct BlendOptions {
    /// Merges what lies together on a rank before blending: faster, but pictures of different cuts differ by up to
    /// 4e-6, or by a larger --termination and 2e-6
    #[arg(long)]
    pub fast: bool,

    /// Cells on a side of the bricks that rays are cut at, a multiple of 8. Default: a quarter of the longest axis, 32
    /// to 128; with --fast a sixteenth, 8 to 128, so that parts follow the chunks
    #[arg(long, value_name = "N", value_parser = parse::brick)]
    pub brick: Option<u16>,

    /// Who blends what. direct: each layer goes to the owners of the picture's tiles; swap (binary swap): halves
    /// between pairs; radix:K,K,..: parts in groups of K, round by round. Swaps hold a whole picture for each layer:
    /// best with --fast
    #[arg(long, value_name = "swap|radix:K,..|direct", default_value = "direct", value_parser = parse::algorithm)]
    pub algorithm: Algorithm,

    /// How pixels travel: dense, runs (without the empty ones), auto (what is less)
    #[arg(long, value_name = "auto|dense|runs", default_value = "auto", value_parser = parse::encoding)]
    pub encoding: Encoding,

    /// What a pixel is while pictures are blended
    #[arg(long, value_name = "KIND", default_value = "f32")]
    pub pixel: Pixel,
}

/// What is measured and compared.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Checks and report")]
pub struct CheckOptions {
    /// Renders so many times and reports the parts of the last one, beside the whole of the first one and of those after
    /// it. Compiling counts for none of them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = sizes::ranged::<u32, 1, 10_000>, conflicts_with = "movie")]
    pub repeat: u32,

    /// Renders again on one rank, in a world of its own with the volume uncut, and compares: fails unless the pictures
    /// are the same bits; with --fast, if a component differs by more than 4e-6 (see --fast)
    #[arg(long, conflicts_with = "movie")]
    pub compare_single: bool,

    /// Compares the picture over its background with this one (8-bit PNG of the same size) and reports the difference
    #[arg(long, value_name = "PNG", conflicts_with = "movie")]
    pub reference: Option<PathBuf>,

    /// Prints one JSON object as the last and only line of standard output; what is said to people goes to standard
    /// error. A psnr_db of null: the pictures are identical
    #[arg(long)]
    pub json: bool,

    /// Under an MPI launcher every process reports a failure, not only that of the rank that failed first
    #[arg(long)]
    pub verbose: bool,
}

impl Options {
    /// Reads a command line.
    ///
    /// # Errors
    /// An option that is malformed, unknown or contradicts another; what would be right is said.
    pub fn read(words: impl IntoIterator<Item = impl Into<std::ffi::OsString>>) -> Result<Self, clap::Error> {
        let options = Self::try_parse_from(with_negative_numbers(words))?;
        match options.contradiction() {
            None => Ok(options),
            Some(message) => Err(Self::command().error(ErrorKind::ArgumentConflict, message)),
        }
    }

    /// What two options make impossible together and no single one shows.
    fn contradiction(&self) -> Option<String> {
        let PictureOptions { output, depth, alpha, background, .. } = &self.picture;
        let floats =
            matches!(output, Some(Output::Still(output::Format::Npy, _) | Output::Numbered(output::Format::Npy, _)));
        let wrong = match (&self.movie.movie, output) {
            (None, Some(Output::Animated(_))) => "an .apng is a movie: give --movie, or a .png or .npy file",
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
            _ if self.blend.fast && self.blend.pixel == Pixel::Rgba8 && self.check.compare_single => {
                "8 bits are rounded at every blend: compare with --pixel f32, or without --fast"
            }
            _ if self.look.preintegrated && self.look.is_nearest() => {
                "--preintegrated needs values between voxels: give --interpolation linear, or leave it out"
            }
            _ if self.look.lit() && !self.look.shade && self.camera.scene.is_none() => {
                "--ambient, --diffuse, --specular and --shininess are for --shade"
            }
            _ => return self.wrong_spread().map(String::from),
        };
        Some(wrong.into())
    }

    fn wrong_spread(&self) -> Option<&'static str> {
        let SpreadOptions { cut, chunks_per_rank, .. } = &self.spread;
        match (cut, chunks_per_rank) {
            (Some(Cut::Tree(Some(_))), Some(_)) => {
                Some("kd:N says how many chunks there are: leave out --chunks-per-rank")
            }
            (Some(Cut::Angles), Some(_)) => Some("ell has two chunks for each rank: leave out --chunks-per-rank"),
            (Some(Cut::Bars), Some(1)) => Some("bars lie across each other from --chunks-per-rank 2"),
            _ => None,
        }
    }

    /// Where the ranks come from.
    pub fn config(&self) -> Config {
        self.ranks.map_or_else(Config::new, Config::threads)
    }

    /// How the volume is spread over the ranks.
    pub fn decomposition(&self) -> Decomposition {
        let SpreadOptions { split, cut, chunks_per_rank, idle_ranks } = &self.spread;
        let cut = cut.clone().unwrap_or_else(|| split.clone());
        Decomposition { cut, per_rank: chunks_per_rank.map(usize::from), idle: *idle_ranks }
    }

    /// How the renderer draws voxels of so many components.
    pub fn renderer(&self, components: usize) -> RendererOptions {
        let BlendOptions { fast, brick, algorithm, encoding, pixel } = &self.blend;
        RendererOptions {
            mode: if *fast { Mode::Fast } else { Mode::Reproducible },
            brick: brick.map(i64::from),
            components,
            name: None,
            algorithm: algorithm.clone(),
            encoding: *encoding,
            pixel: (*pixel).into(),
        }
    }

    /// Where the pictures go.
    pub fn output(&self) -> Output {
        self.picture.output.clone().unwrap_or_else(|| match self.movie.movie {
            Some(_) => Output::Animated("volume.apng".into()),
            None => Output::Still(output::Format::Png, "volume.png".into()),
        })
    }
}
