//! Setup of a run.

use serde::{Deserialize, Serialize};
use zippy::{Error, Result};
use zippy_lbm::case_file::{CaseDifferences, CaseFile};
use zippy_lbm::cases::CaseOptions;
use zippy_lbm::{Collision, Precision, VelocitySet};

use crate::inputs::{Physical, SolidSource, absolute};
use crate::options::{Lattice, Options, Relaxation};

/// Setup of a run. Checkpoints store it, so that the names of its fields are part of the file
/// format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub case: String,
    pub n: [i64; 3],
    pub re: Option<f64>,
    pub speed: Option<f64>,
    pub lattice: Option<Lattice>,
    pub collision: Option<Relaxation>,
    pub smagorinsky: Option<f64>,
    /// True for populations of 16 bits.
    #[serde(default)]
    pub half: bool,
    /// Text of the case file; `case` is then the path of the file.
    #[serde(default)]
    pub text: Option<String>,
    #[serde(default)]
    pub solid: Option<SolidSource>,
    #[serde(default)]
    pub physical: Option<Physical>,
    /// Number and hash of the solid cells; `None` in checkpoints of older versions.
    #[serde(default)]
    pub solid_cells: Option<[u64; 2]>,
}

/// True if the name of a case is a file name.
pub(crate) fn is_file(case: &str) -> bool {
    case.to_ascii_lowercase().ends_with(".toml")
}

/// Absolute path and text of a file that describes a case.
fn read_case_file(case: &str) -> Result<(String, String)> {
    let text = std::fs::read_to_string(case).map_err(|error| Error::program(format!("cannot read {case}: {error}")))?;
    Ok((absolute(case.as_ref()).display().to_string(), text))
}

/// Applies an edited case file to the setup of a checkpoint. Returns a line for each difference.
fn apply_edited_file(case: &str, saved: Setup) -> Result<(Setup, Vec<String>)> {
    let Some(before) = saved.text.as_ref().filter(|_| is_file(case)) else {
        let saved_case = &saved.case;
        return Err(Error::program(format!(
            "--case {case}: the checkpoint has the case {saved_case}; change a named case by --re, --speed, --collision and \
             --smagorinsky, and a case of a file by an edited .toml file"
        )));
    };
    let (path, text) = read_case_file(case)?;
    let wrong = |error: &dyn std::fmt::Display| Error::program(format!("{case}: {error}"));
    let before = CaseFile::parse(before).map_err(|error| wrong(&format!("the case of the checkpoint: {error}")))?;
    let after = CaseFile::parse(&text).map_err(|error| wrong(&error))?;
    let CaseDifferences { accepted, refused } = before.differences(&after).map_err(|error| wrong(&error))?;
    if !refused.is_empty() {
        return Err(wrong(&format!(
            "a continued run keeps its lattice, shapes, kinds of sides, cell size and time step; this file changes:\n  {}",
            refused.join("\n  ")
        )));
    }
    let mut lines: Vec<String> = accepted.iter().map(|line| format!("{case}: {line}")).collect();
    if let Some(speed) = saved.speed {
        lines.push(format!("{case}: the speed of the file replaces the speed {speed:.6} of the window"));
    }
    if lines.is_empty() {
        lines.push(format!("{case}: nothing differs from the case of the checkpoint"));
    }
    Ok((Setup { case: path, text: Some(text), speed: None, re: None, ..saved }, lines))
}

impl Options {
    /// Setups of the requested runs. Local.
    ///
    /// # Errors
    /// The file that describes the case cannot be read.
    pub(crate) fn setups(&self) -> Result<Vec<Setup>> {
        let mut case = self.case.clone().unwrap_or_default();
        let mut text = None;
        if is_file(&case) {
            (case, text) = read_case_file(&case).map(|(case, text)| (case, Some(text)))?;
        } else if std::path::Path::new(&case).extension().is_some() {
            return Err(Error::program(format!(
                "{case} is not a case: give a name (see --help) or a .toml file; for a solid in a stream, give \
                 --case object --solid {case}"
            )));
        }
        let setup = |n: [i64; 3]| Setup {
            case: case.clone(),
            n,
            re: self.re,
            speed: self.speed,
            lattice: self.lattice,
            collision: self.collision,
            smagorinsky: self.smagorinsky,
            half: self.bits == Precision::Half,
            text: text.clone(),
            solid: self.inputs.solid(),
            physical: self.inputs.physical(),
            solid_cells: None,
        };
        Ok(match self.n[..] {
            [] => vec![setup([0; 3])],
            _ => self.n.iter().map(|&n| setup(n)).collect(),
        })
    }

    /// Returns an error for options whose values the case file contains.
    fn check_options_of_case_file(&self, case: &str) -> Result<()> {
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
            Some((_, name)) => {
                Err(Error::program(format!("{case}: {name} is for named cases; the file contains this value")))
            }
            None => Ok(()),
        }
    }

    /// Applies options to the setup of a checkpoint. Returns a line for each difference of an
    /// edited file. Local.
    ///
    /// # Errors
    /// Changes of the cell size or the time step, and those that [`CaseFile::differences`] refuses.
    /// The file cannot be read.
    pub(crate) fn apply_to(&self, saved: Setup) -> Result<(Setup, Vec<String>)> {
        if let Some(case) = &self.case {
            self.check_options_of_case_file(case)?;
            return apply_edited_file(case, saved);
        }
        if saved.text.is_some() {
            self.check_options_of_case_file(&saved.case)?;
        }
        let keeps_scales =
            |new: &Physical| saved.physical.is_some_and(|old| new.length == old.length && new.speed == old.speed);
        let physical = self.inputs.physical();
        if saved.physical.is_some() && self.speed.is_some() || physical.is_some_and(|new| !keeps_scales(&new)) {
            let message = "a run in physical units keeps the size of a cell and the time of a step: --speed, --length and --flow-speed \
                         cannot change; --viscosity and --density can";
            return Err(Error::program(message));
        }
        let physical = physical.or(saved.physical.filter(|_| self.re.is_none()));
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
    pub(crate) fn case_options(&self) -> CaseOptions {
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
        CaseOptions {
            n: self.n,
            reynolds: self.physical.map(|physical| physical.reynolds()).or(self.re),
            speed: self.speed,
            set: self.lattice.map(set),
            collision: self.collision.map(collision),
            smagorinsky: self.smagorinsky,
            precision: if self.half { Precision::Half } else { Precision::Single },
            solid: None,
        }
    }
}
