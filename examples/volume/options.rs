//! The command line.

use std::path::PathBuf;

use clap::Parser;
use zippy::Config;

use crate::cut::{self, Cut};

/// Renders a scanned volume on several ranks into one picture.
///
/// The volume is cut over the ranks as a 3-D global array with a layer of ghost cells; each rank casts rays through its
/// own chunks on its GPU; the partial pictures are blended in depth order by binary swap, through copy and composite of
/// global arrays. Ranks are threads of this process (--ranks), or processes where an MPI launcher started them.
#[derive(Parser, Debug, Clone)]
#[command(name = "volume", after_help = AFTER)]
pub struct Options {
    /// Number of ranks, as threads of this process. Under an MPI launcher leave it out, or give its number of processes.
    /// Default: ZIPPY_RANKS, else 1
    #[arg(long, value_name = "N")]
    pub ranks: Option<usize>,

    /// The volume: NRRD, raw or gzip, attached (.nrrd) or detached header (.nhdr); integers of 8 to 64 bits and floats of
    /// 32 and 64, either byte order. Each rank reads its own part. Default: a phantom made by formula
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,

    /// Voxels of the phantom: one number for a cube, or XxYxZ
    #[arg(long, value_name = "XxYxZ", default_value = "128", value_parser = cut::extents, conflicts_with = "input")]
    pub phantom_size: [i64; 3],

    /// Shows the volume in a window, to be turned, cut and coloured, instead of writing a picture. Under an MPI launcher the
    /// process of rank 0 has the window
    #[arg(long, conflicts_with_all = ["output", "repeat", "compare_single", "reference", "json"])]
    pub view: bool,

    /// The picture's file, PNG
    #[arg(long, value_name = "FILE", default_value = "volume.png")]
    pub output: PathBuf,

    /// Pixels across and down. Default: what the scene says, else 512x512
    #[arg(long, value_name = "WxH", value_parser = cut::pixels)]
    pub size: Option<(u32, u32)>,

    /// Camera, transfer function, sample distance and background from a JSON file with a list `scenes`, as docs/scenes.json
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,

    /// Which scene of the file: an entry's `file` without .png. May be left out if there is only one
    #[arg(long, value_name = "NAME", requires = "scene")]
    pub scene_name: Option<String>,

    /// Without a scene: where the camera stands, degrees around the third axis; -90 is the side of small y
    #[arg(long, value_name = "DEGREES", default_value_t = -47.0, allow_negative_numbers = true, conflicts_with = "scene")]
    pub azimuth: f64,

    /// Without a scene: how high the camera stands, degrees above the x-y plane, -90 to 90
    #[arg(
        long,
        value_name = "DEGREES",
        default_value_t = 29.0,
        allow_negative_numbers = true,
        conflicts_with = "scene"
    )]
    pub elevation: f64,

    /// Without a scene: 1 shows the whole volume, 2 its middle twice as large
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, conflicts_with = "scene")]
    pub zoom: f64,

    /// Distance of the samples on a ray, in the unit of the volume's spacing. Default: what the scene says, else half the
    /// smallest spacing
    #[arg(long, value_name = "LENGTH")]
    pub step: Option<f64>,

    /// How the volume is cut: for each axis a number of even parts, or the parts' sizes joined by +; axes joined by x or
    /// a comma. "auto": near-cubic chunks, one for each rank
    #[arg(long, value_name = "CUTS", default_value = "auto", value_parser = cut::cut)]
    pub split: Cut,

    /// Cuts the volume into this many near-cubic chunks for each rank
    #[arg(long, value_name = "N", conflicts_with = "split", value_parser = clap::value_parser!(u16).range(1..))]
    pub chunks_per_rank: Option<u16>,

    /// Renders so many times and reports the times of the last one; the first includes the compilation of the kernel
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,

    /// Renders again on one rank, in a world of its own with the volume uncut, and compares: fails if a component differs
    /// by more than 4e-6 or the pictures by less than 140 dB
    #[arg(long)]
    pub compare_single: bool,

    /// Compares the picture written with this one (8-bit PNG of the same size) and reports the difference
    #[arg(long, value_name = "PNG")]
    pub reference: Option<PathBuf>,

    /// Prints one JSON object as the last and only line of standard output; what is said to people goes to standard error
    #[arg(long)]
    pub json: bool,
}

const AFTER: &str = "\
Examples:
  volume --ranks 4
      the phantom on four ranks, into volume.png
  volume --ranks 4 --input engine.nrrd --size 512x512 --output engine.png --compare-single
      a scan; the same picture on one rank, compared
  volume --ranks 3 --input engine.nrrd --split 10+246x2x1
      four chunks on three ranks: x cut into 10 and 246 voxels, y into halves, z not at all
  volume --ranks 4 --input engine.nrrd --view
      a window to look at a scan
  volume --input engine.nrrd --scene scenes.json --scene-name engine --step 0.5
      camera and colours from a file

Environment: ZIPPY_ADAPTER chooses the GPU, ZIPPY_TIMEOUT_SECS after how long a wait fails (300).
Exit code: 0, or 1 if something failed or --compare-single missed its bounds, or 2 for a wrong command line.";

impl Options {
    /// Where the ranks come from.
    pub fn config(&self) -> Config {
        self.ranks.map_or_else(Config::new, Config::threads)
    }

    /// How the volume is cut.
    pub fn cut(&self) -> Cut {
        self.chunks_per_rank.map_or_else(|| self.split.clone(), |count| Cut::PerRank(usize::from(count)))
    }
}
