//! Command-line options of solids, physical units and tables.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use zippy::{Error, Result};
use zippy_io::volume::{NumpyAxes, ScalarKind};
use zippy_lbm::{Scale, Units};

use crate::parse::{count, extents};

/// Options of solids, physical units and tables.
#[derive(Args, Debug, Clone)]
pub(crate) struct Inputs {
    /// For --case object: file of the solid in the stream. Either a scan (.nrrd, .nii, .mha, .vti,
    /// .npy, or raw numbers), whose cells above --above are solid, or a closed triangle surface
    /// (.stl, .ply, .obj, .vtp), whose inside is solid
    #[arg(long, value_name = "FILE", help_heading = "Solid", conflicts_with = "restart")]
    pub solid: Option<PathBuf>,

    /// For a scan: values above this are solid
    #[arg(long, value_name = "VALUE", help_heading = "Solid", requires = "solid", conflicts_with = "restart")]
    pub above: Option<f64>,

    /// For a scan: values above this are not solid
    #[arg(long, value_name = "VALUE", help_heading = "Solid", requires = "above", conflicts_with = "restart")]
    pub below: Option<f64>,

    /// Longest edge of the solid's bounding box in cells. Default: two fifths of the second number
    /// of --n
    #[arg(long, value_name = "CELLS", help_heading = "Solid", requires = "solid", conflicts_with = "restart")]
    pub solid_size: Option<f64>,

    /// Also makes the cells solid that the surface passes through. Thin parts get at least one
    /// layer of cells without holes; the solid grows by at most half a cell
    #[arg(long, help_heading = "Solid", requires = "solid", conflicts_with = "restart")]
    pub thicken: bool,

    /// For a scan in a NumPy file: order of its indices, in C order and in Fortran order: zyx (z is
    /// the first index) or xyz
    #[arg(long, value_name = "ORDER", help_heading = "Solid", requires = "above", conflicts_with = "restart", default_value_t = NumpyAxes::Zyx)]
    pub axes: NumpyAxes,

    /// For a scan without a header: voxels along each axis and their type, as 256x256x128:u8
    #[arg(long, value_name = "AxBxC:TYPE", help_heading = "Solid", requires = "above", conflicts_with = "restart", value_parser = parse_raw)]
    pub raw: Option<Raw>,

    /// Length of the Reynolds number in m: greatest width of an object across the stream, or
    /// diameter of a cylinder. With --viscosity, --flow-speed and --density it replaces --re and
    /// sets the size of a cell and the time of a step
    #[arg(long, value_name = "M", help_heading = "Physical units", conflicts_with = "re", requires_all = ["viscosity", "flow_speed", "density"])]
    pub length: Option<f64>,

    /// Kinematic viscosity in m²/s: water 1e-6, air 1.5e-5
    #[arg(long, value_name = "M2/S", help_heading = "Physical units", requires = "length")]
    pub viscosity: Option<f64>,

    /// Speed of the Reynolds number in m/s; --speed is the same speed in cells per step
    #[arg(long, value_name = "M/S", help_heading = "Physical units", requires = "length")]
    pub flow_speed: Option<f64>,

    /// Density in kg/m³, for forces in N: water 1000, air 1.2
    #[arg(long, value_name = "KG/M3", help_heading = "Physical units", requires = "length")]
    pub density: Option<f64>,

    /// Cell of a probe, as 80,40,40; the first cell is 0,0,0. Can be repeated
    #[arg(long, value_name = "X,Y,Z", help_heading = "Tables", requires = "probes", value_parser = parse_cell)]
    pub probe: Vec<[i64; 3]>,

    /// Writes density - 1 and velocity at probes into this CSV table, every --line steps
    #[arg(long, value_name = "FILE", help_heading = "Tables")]
    pub probes: Option<PathBuf>,

    /// Writes force and torque on each body into this CSV table, every --line steps
    #[arg(long, value_name = "FILE", help_heading = "Tables")]
    pub forces: Option<PathBuf>,

    /// Steps between lines of tables. Default: --every, else the interval in the case file
    #[arg(long, value_name = "STEPS", help_heading = "Tables", value_parser = count)]
    pub line: Option<u64>,
}

/// A scan without a header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Raw {
    pub shape: [i64; 3],
    /// Name of a [`ScalarKind`].
    pub kind: String,
}

/// File and options of a solid. Checkpoints store it, so that the names of its fields are part of
/// the file format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SolidSource {
    pub file: PathBuf,
    pub above: Option<f64>,
    pub below: Option<f64>,
    pub size: Option<f64>,
    pub raw: Option<Raw>,
    /// Name of a [`NumpyAxes`]; `None` in checkpoints of older versions.
    #[serde(default)]
    pub axes: Option<String>,
    /// Makes cells solid that the surface passes through.
    #[serde(default)]
    pub thicken: bool,
}

/// Physical scales: length in m, viscosity in m²/s, speed in m/s, density in kg/m³. Checkpoints
/// store it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Physical {
    pub length: f64,
    pub viscosity: f64,
    pub speed: f64,
    pub density: f64,
}

impl Inputs {
    /// Checks that sizes and physical numbers are finite and above 0.
    pub(crate) fn check(&self) -> Result<()> {
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

    pub(crate) fn solid(&self) -> Option<SolidSource> {
        self.solid.as_deref().map(|file| SolidSource {
            file: absolute(file),
            above: self.above,
            below: self.below,
            size: self.solid_size,
            raw: self.raw.clone(),
            axes: Some(self.axes.to_string()),
            thicken: self.thicken,
        })
    }

    pub(crate) fn physical(&self) -> Option<Physical> {
        let (length, viscosity, speed) = (self.length?, self.viscosity?, self.flow_speed?);
        Some(Physical { length, viscosity, speed, density: self.density? })
    }
}

impl Physical {
    pub(crate) fn reynolds(&self) -> f64 {
        self.speed * self.length / self.viscosity
    }

    /// Units of a lattice in which `length` cells and `speed` cells per step are the physical
    /// length and speed.
    pub(crate) fn units(&self, length: f64, speed: f64) -> Units {
        let length = Scale { physical: self.length, lattice: length };
        let speed = Scale { physical: self.speed, lattice: speed };
        Units::from_scales(length, speed, self.density)
    }
}

/// Absolute path, which stays valid when a run continues in another directory.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn parse_cell(text: &str) -> std::result::Result<[i64; 3], String> {
    let numbers: Option<Vec<i64>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    let three = numbers.and_then(|numbers| numbers.try_into().ok());
    three.ok_or("a cell has three integers, as 80,40,40".into())
}

/// Parses shape and type of a raw scan: `256x256x128:u8`.
fn parse_raw(text: &str) -> std::result::Result<Raw, String> {
    let form = "voxels along each axis and their type, as 256x256x128:u8";
    let (shape, kind) = text.split_once(':').ok_or(form)?;
    let shape = extents(shape).ok().and_then(|numbers| numbers.try_into().ok()).ok_or(form)?;
    Ok(Raw { shape, kind: kind.parse::<ScalarKind>()?.name().to_owned() })
}
