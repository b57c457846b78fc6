//! The setup of a run.

use serde::{Deserialize, Serialize};
use zippy::{Error, Result};
use zippy_lbm::cases::Choices;
use zippy_lbm::described::{Changes, Described};
use zippy_lbm::{Collision, Storage, VelocitySet};

use crate::inputs::{FromFile, Physical, absolute};
use crate::options::{Lattice, Options, Relaxation};

/// Setup of a run; checkpoints hold it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    pub case: String,
    pub n: [i64; 3],
    pub re: Option<f64>,
    pub speed: Option<f64>,
    pub lattice: Option<Lattice>,
    pub collision: Option<Relaxation>,
    pub smagorinsky: Option<f64>,
    /// In 16 bits.
    #[serde(default)]
    pub half: bool,
    /// Text of the case file; then `case` is its name.
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub solid: Option<FromFile>,
    #[serde(default)]
    pub physical: Option<Physical>,
    /// How many cells of the box are solid, and their hash; checkpoints of older versions say
    /// nothing.
    #[serde(default)]
    pub solid_cells: Option<[u64; 2]>,
}

/// Whether a case is a file, by its name.
pub fn is_file(case: &str) -> bool {
    case.to_ascii_lowercase().ends_with(".toml")
}

/// The path of a file that describes a case, from wherever a run goes on, and its text.
fn read(case: &str) -> Result<(String, String)> {
    let text = std::fs::read_to_string(case).map_err(|error| Error::program(format!("cannot read {case}: {error}")))?;
    Ok((absolute(case.as_ref()).display().to_string(), text))
}

/// A checkpoint's run as an edited file describes it, and a line for each difference.
fn edited(case: &str, saved: Setup) -> Result<(Setup, Vec<String>)> {
    let Some(before) = saved.text.as_ref().filter(|_| is_file(case)) else {
        let kept = &saved.case;
        return Err(Error::program(format!(
            "--case {case}: the checkpoint goes on as the case {kept}; of a named case --re, --speed, --collision and \
             --smagorinsky change it, and one of a file goes on as an edited file, with the ending .toml"
        )));
    };
    let (path, text) = read(case)?;
    let wrong = |error: &dyn std::fmt::Display| Error::program(format!("{case}: {error}"));
    let before = Described::parse(before).map_err(|error| wrong(&format!("the case of the checkpoint: {error}")))?;
    let after = Described::parse(&text).map_err(|error| wrong(&error))?;
    let Changes { taken, refused } = before.changes(&after).map_err(|error| wrong(&error))?;
    if !refused.is_empty() {
        return Err(wrong(&format!(
            "a run that goes on keeps its cells, shapes, kinds of sides, cell and step, and this file has others:\n  {}",
            refused.join("\n  ")
        )));
    }
    let mut lines: Vec<String> = taken.iter().map(|line| format!("{case}: {line}")).collect();
    if let Some(speed) = saved.speed {
        lines.push(format!("{case}: the speed {speed:.6} of the window gives way to that of the file"));
    }
    if lines.is_empty() {
        lines.push(format!("{case}: nothing differs from the case of the checkpoint"));
    }
    Ok((Setup { case: path, text: Some(text), speed: None, re: None, ..saved }, lines))
}

impl Options {
    /// The runs that the command line requests. Local.
    ///
    /// # Errors
    /// The file that describes the case cannot be read.
    pub fn setups(&self) -> Result<Vec<Setup>> {
        let mut case = self.case.clone().unwrap_or_default();
        let mut text = None;
        if is_file(&case) {
            (case, text) = read(&case).map(|(case, text)| (case, Some(text)))?;
        } else if std::path::Path::new(&case).extension().is_some() {
            return Err(Error::program(format!(
                "{case} is no case: a case has a name, see --help, or is a file with the ending .toml; a solid in a stream is \
                 --case object --solid {case}"
            )));
        }
        let one = |n: [i64; 3]| Setup {
            case: case.clone(),
            n,
            re: self.re,
            speed: self.speed,
            lattice: self.lattice,
            collision: self.collision,
            smagorinsky: self.smagorinsky,
            half: self.bits == Storage::Half,
            text: text.clone(),
            solid: self.inputs.solid(),
            physical: self.inputs.physical(),
            solid_cells: None,
        };
        Ok(match self.n[..] {
            [] => vec![one([0; 3])],
            _ => self.n.iter().map(|&n| one(n)).collect(),
        })
    }

    /// Refuses options with values that the case file gives.
    fn check_described(&self, case: &str) -> Result<()> {
        let options = [
            (self.re.is_some(), "--re"),
            (self.speed.is_some(), "--speed"),
            (self.collision.is_some(), "--collision"),
            (self.smagorinsky.is_some(), "--smagorinsky"),
            (self.inputs.length.is_some(), "--length"),
            (self.inputs.viscosity.is_some(), "--viscosity"),
            (self.inputs.flow_speed.is_some(), "--flow-speed"),
            (self.inputs.density.is_some(), "--density"),
        ];
        match options.iter().find(|(is_given, _)| *is_given && is_file(case)) {
            Some((_, name)) => Err(Error::program(format!("{case}: {name} is for named cases; here the file says it"))),
            None => Ok(()),
        }
    }

    /// A checkpoint's run with the new options, and a line for each difference of an edited file.
    /// Local.
    ///
    /// # Errors
    /// Changes of the cell size or the time step, and those that [`Described::changes`] refuses.
    /// The file cannot be read.
    pub fn changed(&self, saved: Setup) -> Result<(Setup, Vec<String>)> {
        if let Some(case) = &self.case {
            self.check_described(case)?;
            return edited(case, saved);
        }
        if saved.text.is_some() {
            self.check_described(&saved.case)?;
        }
        let same =
            |given: &Physical| saved.physical.is_some_and(|old| given.length == old.length && given.speed == old.speed);
        let given = self.inputs.physical();
        if saved.physical.is_some() && self.speed.is_some() || given.is_some_and(|given| !same(&given)) {
            let wrong = "a run in physical units keeps the size of a cell and the time of a step: --speed, and another --length or \
                         --flow-speed, would change them; --viscosity and --density may be others";
            return Err(Error::program(wrong));
        }
        let physical = given.or(saved.physical.filter(|_| self.re.is_none()));
        let setup = Setup {
            physical,
            re: self.re.or(saved.re),
            speed: self.speed.or(saved.speed),
            collision: self.collision.or(saved.collision),
            smagorinsky: self.smagorinsky.or(saved.smagorinsky),
            ..saved
        };
        Ok((setup, Vec::new()))
    }
}

impl Setup {
    pub fn choices(&self) -> Choices {
        let set = |lattice| match lattice {
            Lattice::D2q9 => VelocitySet::D2Q9,
            Lattice::D3q19 => VelocitySet::D3Q19,
            Lattice::D3q27 => VelocitySet::D3Q27,
        };
        let collision = |relaxation| match relaxation {
            Relaxation::Bgk => Collision::Bgk,
            Relaxation::Trt => Collision::Trt { magic: 3.0 / 16.0 },
            Relaxation::Cumulant => Collision::Cumulant,
        };
        Choices {
            n: self.n,
            reynolds: self.physical.map(|physical| physical.reynolds()).or(self.re),
            speed: self.speed,
            set: self.lattice.map(set),
            collision: self.collision.map(collision),
            smagorinsky: self.smagorinsky,
            storage: if self.half { Storage::Half } else { Storage::Single },
            solid: None,
        }
    }
}
