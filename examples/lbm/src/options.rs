//! The command line.

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use serde::{Deserialize, Serialize};
use zippy::{Config, Error, Result};
use zippy_lbm::cases::NAMES;
use zippy_lbm::{Cut, Storage};

use crate::inputs::Inputs;
use crate::numbers::{bits, count, number, pixels, size};
use crate::scene::Shown;
use crate::setup::is_file;
use crate::showing::Showing;

/// Lattice Boltzmann flow over several ranks: known cases, with comparisons and checkpoints.
///
/// The lattice is cut over the ranks; each keeps its cells on its device, and only what crosses a cut moves. Results are the
/// same bits for every number of ranks and every cut. Ranks are threads of this process (--ranks), or processes where an
/// MPI launcher started them.
#[derive(Parser, Debug, Clone)]
#[command(name = "lbm", after_help = after())]
pub struct Options {
    /// Number of ranks, as threads of this process. Under an MPI launcher leave it out, or give its number of processes.
    /// Default: ZIPPY_RANKS, else 1
    #[arg(long, value_name = "N", value_parser = count)]
    pub ranks: Option<u64>,

    /// Name of a case (list below), or a .toml file that describes one. With --restart: an edited file with the same lattice,
    /// shapes and kinds of sides as the checkpoint
    #[arg(long, value_name = "NAME", required_unless_present_any = ["restart", "what"])]
    pub case: Option<String>,

    /// Name or .toml file of the case, the same as --case
    #[arg(value_name = "CASE", conflicts_with = "case")]
    what: Option<String>,

    /// Size of the case: one number, or cells per axis as 160x80x80. A comma separates sizes: --n 32,64,128 runs three times and
    /// prints the order of convergence
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = size)]
    pub n: Vec<[i64; 3]>,

    /// The Reynolds number
    #[arg(long, value_name = "RE")]
    pub re: Option<f64>,

    /// The speed of the Reynolds number, in cells a step: 0.1 is fast, 0.01 is slow and exact
    #[arg(long, value_name = "U")]
    pub speed: Option<f64>,

    /// The velocities of the lattice
    #[arg(long, value_enum, ignore_case = true)]
    pub lattice: Option<Lattice>,

    /// How populations relax: with one time, with two and the magic number 3/16, or as cumulants, which need the lattice d3q27
    #[arg(long, value_enum, ignore_case = true)]
    pub collision: Option<Relaxation>,

    /// Bits of a population: 16 take half the memory and have about four digits
    #[arg(long, value_name = "16|32", value_parser = bits, default_value = "32", conflicts_with = "restart")]
    pub bits: Storage,

    /// Smagorinsky's constant, for flows whose eddies are smaller than cells: 0.1 to 0.2
    #[arg(long, value_name = "C")]
    pub smagorinsky: Option<f64>,

    /// Parts of the lattice along each axis, as 2x2x1. Default: by the number of ranks
    #[arg(long, value_name = "AxBxC", value_parser = size)]
    cut: Option<[i64; 3]>,

    /// So many steps, from where it is. Default: as the case has it
    #[arg(long, value_name = "STEPS", conflicts_with = "until_steady", value_parser = number)]
    pub steps: Option<u64>,

    /// Until the flow does not change any more
    #[arg(long)]
    pub until_steady: bool,

    /// Ends after so many seconds of steps, with a checkpoint where --checkpoint says so, as SIGTERM does; pauses count
    #[arg(long, value_name = "SECONDS", value_parser = number)]
    pub budget: Option<u64>,

    /// Compares with a table: Ghia, Ghia and Shin 1982 of the square cavity at Reynolds number 100
    #[arg(long, value_enum, ignore_case = true)]
    pub compare: Option<Table>,

    /// Writes checkpoints into this directory, as often as --every says and at the end; it has none of another run
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,

    /// Steps between checkpoints, pictures, files of fields and lines of tables
    #[arg(long, value_name = "STEPS", value_parser = count)]
    pub every: Option<u64>,

    /// Draws this of the flow as it runs, as often as --every says and at both ends
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with = "until_steady")]
    pub render: Option<Shown>,

    /// Where pictures go: .apng for a movie, .png for the last one. Default: flow.apng
    #[arg(long, value_name = "FILE", requires = "render")]
    pub output: Option<PathBuf>,

    /// Width and height of pictures; in those of slices cells are as large as fit, and a pixel at least
    #[arg(long, value_name = "WxH", default_value = "640x480", value_parser = pixels)]
    pub size: (u32, u32),

    #[command(flatten)]
    pub showing: Showing,

    /// Writes velocity (as vectors) with density beyond 1, speed, vorticity and the Q-criterion into this directory as often as
    /// --every says and at both ends: a VTI file for each and step, and an index (.pvd) for each, which ParaView shows as an
    /// animation
    #[arg(long, value_name = "DIR")]
    pub fields: Option<PathBuf>,

    /// Continues from the latest checkpoint in this directory, on any number of ranks. Other options replace the values in the
    /// checkpoint. A solid whose file has changed so that other cells are solid is refused
    #[arg(long, value_name = "DIR", conflicts_with_all = ["n", "lattice"])]
    pub restart: Option<PathBuf>,

    /// Prints a hash of all populations: the same for every number of ranks and every cut
    #[arg(long)]
    pub hash: bool,

    /// Prints a JSON object a run
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub inputs: Inputs,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Lattice {
    D2q9,
    D3q19,
    D3q27,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Relaxation {
    Bgk,
    Trt,
    Cumulant,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq)]
pub enum Table {
    Ghia,
}

fn after() -> String {
    let cases: String = NAMES.iter().map(|(name, what)| format!("  {name:<15} {what}\n")).collect();
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
         crates/lbm/README.md has a file that describes a case; zippy_lbm::described lists all keys."
    )
}

fn ends_as_a_picture(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "apng" || ending == "png")
}

impl Options {
    /// The options of a command line; mistakes end the program.
    pub fn read(words: impl IntoIterator<Item = std::ffi::OsString>) -> Self {
        let mut options = Self::parse_from(words);
        options.case = options.case.or(options.what.take());
        options
    }

    /// Several runs with a number each, where one size with several numbers was probably meant.
    pub fn ambiguity(&self) -> Option<String> {
        let is_sized_by_three = matches!(self.case.as_deref(), Some("sphere" | "object"));
        let [[x, 0, 0], [y, 0, 0], [z, 0, 0]] = self.n[..] else { return None };
        is_sized_by_three
            .then(|| format!("--n {x},{y},{z} are three runs; one run in a box of three extents is --n {x}x{y}x{z}"))
    }

    pub fn config(&self) -> Config {
        match self.ranks {
            Some(ranks) => Config::threads(ranks as usize),
            None => Config::default(),
        }
    }

    pub fn cut(&self) -> Cut {
        self.cut.map_or(Cut::Auto, |parts| Cut::Parts(parts.map(|part| part.max(1) as usize)))
    }

    /// Mistakes that only several options together are.
    pub fn check(&self) -> Result<()> {
        self.inputs.check()?;
        let tables = self.inputs.forces.is_some() || self.inputs.probes.is_some();
        let named = self.case.as_ref().is_some_and(|case| !is_file(case));
        let repeated = (1..self.n.len()).any(|k| self.n[..k].contains(&self.n[k]));
        if let (true, Some(wrong)) = (repeated, self.ambiguity()) {
            return Err(Error::program(wrong));
        }
        let wrong = match self {
            Self { until_steady: true, bits: Storage::Half, .. } => {
                "--until-steady waits until nothing changes, and in 16 bits something always does; give --steps"
            }
            Self { case: Some(_), re, speed, .. } if !named && (re.is_some() || speed.is_some()) => {
                "--re and --speed are for named cases; here the file says them"
            }
            Self { inputs: Inputs { line: Some(_), .. }, .. } if !tables => {
                "--line says how often --forces and --probes write; give one of these, too"
            }
            Self { every: Some(_), checkpoint: None, render: None, fields: None, .. } if !tables => {
                "--every says how often --checkpoint, --render, --fields, --forces and --probes write; give one of these, too"
            }
            Self { compare: Some(Table::Ghia), case: Some(case), .. } if case != "cavity2d" => {
                "--compare ghia is a table of the case cavity2d"
            }
            Self { n, checkpoint: Some(_), .. } if n.len() > 1 => "--checkpoint keeps one run; give one --n",
            Self { n, fields: Some(_), .. } if n.len() > 1 => "--fields keeps one run; give one --n",
            Self { output: Some(file), .. } if !ends_as_a_picture(file) => {
                "--output is a movie (.apng) or a picture (.png), by its name"
            }
            Self { n, render: Some(_), .. } if n.len() > 1 => "--render draws one run; give one --n",
            Self { n, .. } if n.len() > 1 && tables => "--forces and --probes are tables of one run; give one --n",
            Self { n, showing, .. } if n.len() > 1 && showing.view => "--view shows one run; give one --n",
            Self { render: None, showing, .. } if showing.is_given() && !showing.view => {
                "--as, --iso, --slice and --range say how --render or --view draws; give one of these, too"
            }
            Self { showing, .. } if showing.contradiction().is_some() => showing.contradiction().unwrap_or_default(),
            Self { showing, until_steady: true, .. } if showing.view => {
                "--view runs until its window is closed, or for --steps; leave --until-steady out"
            }
            _ => return Ok(()),
        };
        Err(Error::program(wrong))
    }
}
