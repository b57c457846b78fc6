//! Command-line options.

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use serde::{Deserialize, Serialize};
use zippy::{Config, Error, Result};
use zippy_lbm::cases::CASES;
use zippy_lbm::{Cut, Precision};

use crate::inputs::Inputs;
use crate::parse::{bits, count, number, pixels, size};
use crate::picture_options::PictureOptions;
use crate::scene::ShownQuantity;
use crate::setup::is_file;

/// Lattice Boltzmann flow on several ranks: standard cases, comparisons, checkpoints and pictures.
///
/// The lattice is divided over the ranks. Each rank keeps its cells on its device, and only
/// populations that cross a cut are sent. Results have the same bits for every number of ranks and
/// every cut. Ranks are threads of this process (--ranks) or processes that an MPI launcher
/// started.
#[derive(Parser, Debug, Clone)]
#[command(name = "lbm", after_help = after_help())]
pub(crate) struct Options {
    /// Number of ranks, as threads of this process. Under an MPI launcher omit it, or give the
    /// number of processes. Default: ZIPPY_RANKS, else 1
    #[arg(long, value_name = "N", value_parser = count)]
    pub ranks: Option<u64>,

    /// Name of a case (list below), or a .toml file that describes a case. With --restart: an
    /// edited file with the same lattice, shapes and kinds of sides as the checkpoint
    #[arg(long, value_name = "NAME", required_unless_present_any = ["restart", "positional"])]
    pub case: Option<String>,

    /// Name or .toml file of the case, the same as --case
    #[arg(value_name = "CASE", conflicts_with = "case")]
    positional: Option<String>,

    /// Size of the case in cells: one number, or cells along each axis as 160x80x80. Sizes
    /// separated by commas are separate runs: --n 32,64,128 runs three times and prints the order
    /// of convergence
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = size)]
    pub n: Vec<[i64; 3]>,

    /// Reynolds number
    #[arg(long, value_name = "RE")]
    pub re: Option<f64>,

    /// Speed of the Reynolds number in cells per step: 0.1 is fast, 0.01 is slow and more accurate
    #[arg(long, value_name = "U")]
    pub speed: Option<f64>,

    /// Velocity set of the lattice
    #[arg(long, value_enum, ignore_case = true)]
    pub lattice: Option<Lattice>,

    /// Collision operator: bgk (one relaxation time), trt (two relaxation times with the magic
    /// number 3/16), or cumulant (needs --lattice d3q27)
    #[arg(long, value_enum, ignore_case = true)]
    pub collision: Option<Relaxation>,

    /// Bits of a population: 16 halves the memory and keeps about four digits
    #[arg(long, value_name = "16|32", value_parser = bits, default_value = "32", conflicts_with = "restart")]
    pub bits: Precision,

    /// Smagorinsky constant for turbulence below the cell size: 0.1 to 0.2
    #[arg(long, value_name = "C")]
    pub smagorinsky: Option<f64>,

    /// Number of parts of the lattice along each axis, as 2x2x1. Default: chosen from the number of
    /// ranks
    #[arg(long, value_name = "AxBxC", value_parser = size)]
    cut: Option<[i64; 3]>,

    /// Number of steps from the start or checkpoint. Default: the steps of the case
    #[arg(long, value_name = "STEPS", conflicts_with = "until_steady", value_parser = number)]
    pub steps: Option<u64>,

    /// Runs until the flow is steady
    #[arg(long)]
    pub until_steady: bool,

    /// Ends after this number of seconds of steps, including pauses, like SIGTERM: with a
    /// checkpoint if --checkpoint is given
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    pub budget: Option<u64>,

    /// Compares with a table: ghia is Ghia, Ghia and Shin 1982, the square cavity at Reynolds
    /// number 100
    #[arg(long, value_enum, ignore_case = true)]
    pub compare: Option<Table>,

    /// Writes checkpoints into this directory, every --every steps and at the end. The directory
    /// must not have checkpoints of another run
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,

    /// Steps between checkpoints, pictures, field files and table lines
    #[arg(long, value_name = "STEPS", value_parser = count)]
    pub every: Option<u64>,

    /// Draws this quantity of the flow every --every steps, at the start and at the end
    #[arg(long, value_enum, value_name = "QUANTITY", conflicts_with = "until_steady")]
    pub render: Option<ShownQuantity>,

    /// Picture file: .apng for a movie, .png for the last picture. Default: flow.apng
    #[arg(long, value_name = "FILE", requires = "render")]
    pub output: Option<PathBuf>,

    /// Width and height of pictures in pixels. In slices, cells are squares of as many pixels as
    /// fit, at least one
    #[arg(long, value_name = "WxH", default_value = "640x480", value_parser = pixels)]
    pub size: (u32, u32),

    #[command(flatten)]
    pub pictures: PictureOptions,

    /// Writes velocity (vectors) with density - 1, speed, vorticity and Q-criterion into this
    /// directory every --every steps, at the start and at the end: a VTI file for each field and
    /// step, and an index (.pvd) for each field, which ParaView shows as an animation
    #[arg(long, value_name = "DIR")]
    pub fields: Option<PathBuf>,

    /// Continues from the latest checkpoint in this directory, on any number of ranks. Other
    /// options replace the values in the checkpoint. A changed solid file that changes solid cells
    /// is an error
    #[arg(long, value_name = "DIR", conflicts_with_all = ["n", "lattice"])]
    pub restart: Option<PathBuf>,

    /// Prints a hash of all populations: the same for every number of ranks and every cut
    #[arg(long)]
    pub hash: bool,

    /// Prints one JSON object for each run
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub inputs: Inputs,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Lattice {
    D2q9,
    D3q19,
    D3q27,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum Relaxation {
    Bgk,
    Trt,
    Cumulant,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq)]
pub(crate) enum Table {
    Ghia,
}

fn after_help() -> String {
    let cases: String = CASES.iter().map(|case| format!("  {:<15} {}\n", case.name, case.description)).collect();
    format!(
        "Cases:\n{cases}\nExamples:\n  lbm --ranks 4 --case cavity2d --n 128 --until-steady --compare ghia\n  \
         lbm --ranks 3 --case taylor-green2d --n 32,64,128\n  \
         lbm --ranks 4 --case cavity3d --steps 200 --checkpoint ck --every 100\n  \
         lbm --ranks 3 --restart ck --steps 100 --hash\n  \
         lbm --ranks 4 --case sphere --n 160x80x80 --steps 2000 --render vorticity --every 50 --output flow.apng\n  \
         lbm --ranks 4 --case sphere --steps 2000 --render q --as surface --every 50 --output wake.apng\n  \
         lbm --ranks 2 --case sphere --n 96x48x48 --view\n  \
         lbm --case object --solid tooth.nrrd --above 600 --n 192x96x96 --forces forces.csv --line 20\n  \
         lbm --case object --solid car.stl --solid-size 60 --length 1.8 --viscosity 1.5e-5 --flow-speed 1e-3 --density 1.2\n  \
         lbm channel.toml --probes probes.csv\n  \
         lbm --restart ck --case edited.toml --steps 1000\n\n\
         crates/lbm/examples/channel.toml describes a case; zippy_lbm::case_file lists all keys."
    )
}

fn is_picture_file(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "apng" || ending == "png")
}

impl Options {
    /// Parses a command line. Mistakes end the program with a message.
    pub(crate) fn read(words: impl IntoIterator<Item = std::ffi::OsString>) -> Self {
        let mut options = Self::parse_from(words);
        options.case = options.case.or(options.positional.take());
        options
    }

    /// Message if `--n` has three sizes of one number, for a case where one size of three numbers
    /// is more likely meant.
    pub(crate) fn ambiguity(&self) -> Option<String> {
        let is_sized_by_three = matches!(self.case.as_deref(), Some("sphere" | "object"));
        let [[x, 0, 0], [y, 0, 0], [z, 0, 0]] = self.n[..] else { return None };
        is_sized_by_three
            .then(|| format!("--n {x},{y},{z} are three runs; one run in a box of three extents is --n {x}x{y}x{z}"))
    }

    pub(crate) fn config(&self) -> Config {
        match self.ranks {
            Some(ranks) => Config::threads(ranks as usize),
            None => Config::default(),
        }
    }

    pub(crate) fn cut(&self) -> Cut {
        self.cut.map_or(Cut::Auto, |parts| Cut::Parts(parts.map(|part| part.max(1) as usize)))
    }

    /// Checks for options that contradict each other.
    pub(crate) fn check(&self) -> Result<()> {
        self.inputs.check()?;
        let tables = self.inputs.forces.is_some() || self.inputs.probes.is_some();
        let named = self.case.as_ref().is_some_and(|case| !is_file(case));
        let repeated = (1..self.n.len()).any(|k| self.n[..k].contains(&self.n[k]));
        if let (true, Some(message)) = (repeated, self.ambiguity()) {
            return Err(Error::program(message));
        }
        let message = match self {
            Self { until_steady: true, bits: Precision::Half, .. } => {
                "--until-steady needs 32 bits: rounding to 16 bits never becomes steady; give --steps"
            }
            Self { case: Some(_), re, speed, .. } if !named && (re.is_some() || speed.is_some()) => {
                "--re and --speed are for named cases; the file contains them"
            }
            Self { inputs: Inputs { line: Some(_), .. }, .. } if !tables => {
                "--line is the interval of --forces and --probes; give one of these, too"
            }
            Self { every: Some(_), checkpoint: None, render: None, fields: None, .. } if !tables => {
                "--every is the interval of --checkpoint, --render, --fields, --forces and --probes; give one of these, too"
            }
            Self { compare: Some(Table::Ghia), case: Some(case), .. } if case != "cavity2d" => {
                "--compare ghia is a table for the case cavity2d"
            }
            Self { n, checkpoint: Some(_), .. } if n.len() > 1 => "--checkpoint is for one run; give one --n",
            Self { n, fields: Some(_), .. } if n.len() > 1 => "--fields is for one run; give one --n",
            Self { output: Some(file), .. } if !is_picture_file(file) => {
                "--output needs the extension .apng for a movie or .png for a picture"
            }
            Self { n, render: Some(_), .. } if n.len() > 1 => "--render is for one run; give one --n",
            Self { n, .. } if n.len() > 1 && tables => "--forces and --probes are for one run; give one --n",
            Self { n, pictures, .. } if n.len() > 1 && pictures.view => "--view shows one run; give one --n",
            Self { render: None, pictures, .. } if pictures.is_given() && !pictures.view => {
                "--as, --iso, --slice and --range are options of --render and --view; give one of these, too"
            }
            Self { pictures, .. } if pictures.contradiction().is_some() => pictures.contradiction().unwrap_or_default(),
            Self { pictures, until_steady: true, .. } if pictures.view => {
                "--view runs until its window is closed, or for --steps; leave out --until-steady"
            }
            _ => return Ok(()),
        };
        Err(Error::program(message))
    }
}
