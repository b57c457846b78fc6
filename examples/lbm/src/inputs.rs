//! What a run is told beside its case: a solid from a file, physical numbers, probes.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use zippy::{Error, Result};
use zippy_io::volume::{NumpyAxes, ScalarKind};
use zippy_lbm::Units;

use crate::numbers::{count, extents};

/// The part of the command line.
#[derive(Args, Debug, Clone)]
pub struct Inputs {
    /// For --case object: file of the solid in the stream. Either a scan (.nrrd, .nii, .mha, .vti, .npy, or raw numbers), whose
    /// cells above --above are solid, or a closed surface of triangles (.stl, .ply, .obj, .vtp), whose inside is solid
    #[arg(long, value_name = "FILE", help_heading = "Solid", conflicts_with = "restart")]
    pub solid: Option<PathBuf>,

    /// Of a scan: solid is where its value is above this
    #[arg(long, value_name = "VALUE", help_heading = "Solid", requires = "solid", conflicts_with = "restart")]
    pub above: Option<f64>,

    /// Of a scan: and not above this
    #[arg(long, value_name = "VALUE", help_heading = "Solid", requires = "above", conflicts_with = "restart")]
    pub below: Option<f64>,

    /// The longest edge of its box, in cells. Default: two fifths of the second number of --n
    #[arg(long, value_name = "CELLS", help_heading = "Solid", requires = "solid", conflicts_with = "restart")]
    pub solid_size: Option<f64>,

    /// Makes cells that the surface of the solid passes through solid, too: thin parts get at least one layer of cells and no holes.
    /// The solid grows by half a cell at most
    #[arg(long, help_heading = "Solid", requires = "solid", conflicts_with = "restart")]
    pub thicken: bool,

    /// Of a scan in a NumPy file: how its indices are called, the first one first, in C order and in Fortran order: zyx or xyz
    #[arg(long, value_name = "ORDER", help_heading = "Solid", requires = "above", conflicts_with = "restart", default_value_t = NumpyAxes::Zyx)]
    pub axes: NumpyAxes,

    /// Of a scan without a header: voxels along each axis and their type, as 256x256x128:u8
    #[arg(long, value_name = "AxBxC:TYPE", help_heading = "Solid", requires = "above", conflicts_with = "restart", value_parser = raw)]
    pub raw: Option<Raw>,

    /// The length of the Reynolds number in m: of an object its greatest width across the stream, of a cylinder its diameter. With
    /// --viscosity, --flow-speed and --density it is in place of --re, and says what a cell and a step are
    #[arg(long, value_name = "M", help_heading = "Physical units", conflicts_with = "re", requires_all = ["viscosity", "flow_speed", "density"])]
    pub length: Option<f64>,

    /// The kinematic viscosity in m²/s: 1e-6 is water, 1.5e-5 air
    #[arg(long, value_name = "M2/S", help_heading = "Physical units", requires = "length")]
    pub viscosity: Option<f64>,

    /// The speed of the Reynolds number in m/s; --speed says what it is in cells a step
    #[arg(long, value_name = "M/S", help_heading = "Physical units", requires = "length")]
    pub flow_speed: Option<f64>,

    /// The density in kg/m³, by which forces are told: 1000 is water, 1.2 air
    #[arg(long, value_name = "KG/M3", help_heading = "Physical units", requires = "length")]
    pub density: Option<f64>,

    /// A cell whose density and velocity are told in the table of --probes, as 80,40,40: the first one is 0,0,0. May be
    /// given several times
    #[arg(long, value_name = "X,Y,Z", help_heading = "Tables", requires = "probes", value_parser = place)]
    pub probe: Vec<[i64; 3]>,

    /// Writes density (beyond 1) and velocity at probes into this table (CSV), as often as --line says
    #[arg(long, value_name = "FILE", help_heading = "Tables")]
    pub probes: Option<PathBuf>,

    /// Writes force and torque on each body into this table (CSV), likewise
    #[arg(long, value_name = "FILE", help_heading = "Tables")]
    pub forces: Option<PathBuf>,

    /// Steps from line to line of tables. Default: as --every says, or the file that describes the case
    #[arg(long, value_name = "STEPS", help_heading = "Tables", value_parser = count)]
    pub line: Option<u64>,
}

/// A scan without a header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Raw {
    pub shape: [i64; 3],
    /// As [`ScalarKind`] calls it.
    pub kind: String,
}

/// A solid, of which checkpoints hold what it was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FromFile {
    pub file: PathBuf,
    pub above: Option<f64>,
    pub below: Option<f64>,
    pub size: Option<f64>,
    pub raw: Option<Raw>,
    /// As [`NumpyAxes`] calls them; checkpoints of older versions say nothing.
    #[serde(default)]
    pub axes: Option<String>,
    /// Also the cells that its surface passes through.
    #[serde(default)]
    pub thicken: bool,
}

/// Length in m, viscosity in m²/s, speed in m/s, density in kg/m³.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Physical {
    pub length: f64,
    pub viscosity: f64,
    pub speed: f64,
    pub density: f64,
}

impl Inputs {
    /// # Errors
    /// Numbers that cannot be.
    pub fn check(&self) -> Result<()> {
        let numbers = [
            ("--solid-size", self.solid_size),
            ("--length", self.length),
            ("--viscosity", self.viscosity),
            ("--flow-speed", self.flow_speed),
            ("--density", self.density),
        ];
        for (name, value) in numbers {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return Err(Error::program(format!("{name} is {value}; it must be a finite number above 0")));
            }
        }
        Ok(())
    }

    pub fn solid(&self) -> Option<FromFile> {
        self.solid.as_deref().map(|file| FromFile {
            file: absolute(file),
            above: self.above,
            below: self.below,
            size: self.solid_size,
            raw: self.raw.clone(),
            axes: Some(self.axes.to_string()),
            thicken: self.thicken,
        })
    }

    pub fn physical(&self) -> Option<Physical> {
        let (length, viscosity, speed) = (self.length?, self.viscosity?, self.flow_speed?);
        Some(Physical { length, viscosity, speed, density: self.density? })
    }
}

impl Physical {
    pub fn reynolds(&self) -> f64 {
        self.speed * self.length / self.viscosity
    }

    /// Where a length and a speed of the lattice are those.
    pub fn units(&self, length: f64, speed: f64) -> Units {
        Units::of([length, self.length], [speed, self.speed], self.density)
    }
}

/// As it is found from wherever a run goes on.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// `80,40,40`.
fn place(text: &str) -> std::result::Result<[i64; 3], String> {
    let numbers: Option<Vec<i64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    let three = numbers.and_then(|numbers| numbers.try_into().ok());
    three.ok_or("a place has three whole numbers, as 80,40,40".into())
}

/// `256x256x128:u8`.
fn raw(text: &str) -> std::result::Result<Raw, String> {
    let wanted = "voxels along each axis and their type, as 256x256x128:u8";
    let (shape, kind) = text.split_once(':').ok_or(wanted)?;
    let shape = extents(shape).ok().and_then(|numbers| numbers.try_into().ok()).ok_or(wanted)?;
    Ok(Raw { shape, kind: kind.parse::<ScalarKind>()?.name().to_owned() })
}
