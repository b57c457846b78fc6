//! From a text to a case.

use zippy::error::CallSite;
use zippy::{Result, World};

use super::schema::{self, File, Relaxation, Velocities};
use super::source::Load;
use super::text::Text;
use super::{bodies, sides};
use crate::cases::Case;
use crate::error::FlowError;
use crate::problem::{Collision, Place, Problem};
use crate::units::Units;
use crate::velocities::VelocitySet;

/// A place where density and velocity are told.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// What it is called.
    pub name: String,
    /// The cell.
    pub place: Place,
}

/// A text that says what a case needs.
#[derive(Debug, Clone)]
pub struct Described {
    pub(super) file: File,
    pub(super) units: Units,
    probes: Vec<Probe>,
    warnings: Vec<String>,
}

impl Described {
    /// Reads the text. Local.
    ///
    /// # Errors
    /// What is wrong with it, and in which line.
    pub fn parse(text: &str) -> std::result::Result<Self, FlowError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let line = Text(text).line(error.span().map_or(0, |span| span.start));
            let key = text.lines().nth(line - 1).unwrap_or_default().trim();
            let key = format!("`{}`", key.chars().take(60).collect::<String>());
            FlowError::Described { line, key, wrong: error.message().to_owned() }
        })?;
        let text = &Text(text);
        let (lattice, fluid, reference) = (&file.lattice, &file.fluid, &file.reference);
        if let Some(n) = lattice.get_ref().cells.iter().find(|n| !(1..=1 << 24).contains(*n)) {
            return Err(text.wrong(lattice, "lattice.cells", format!("{n} in it must be between 1 and 2^24")));
        }
        if lattice.get_ref().magic.is_some() && !matches!(lattice.get_ref().collision, None | Some(Relaxation::Trt)) {
            return Err(text.wrong(lattice, "lattice.magic", "it belongs to the collision \"trt\""));
        }
        if file.every == Some(0) {
            return Err(text.wrong(lattice, "every", "it must be 1 at least"));
        }
        text.positive(reference, "reference.length", reference.get_ref().length)?;
        text.positive(reference, "reference.speed", reference.get_ref().speed)?;
        reference.get_ref().area.map_or(Ok(()), |area| text.positive(reference, "reference.area", area))?;
        text.positive(fluid, "fluid.viscosity", fluid.get_ref().viscosity)?;
        text.finite(fluid, "fluid.acceleration", &fluid.get_ref().acceleration)?;
        text.finite(fluid, "fluid.velocity", &fluid.get_ref().velocity)?;
        let units = units(text, &file)?;
        sides::check(text, &file, &units)?;
        bodies::check(text, &file, &units)?;
        let probes = probes(text, &file, &units)?;
        let warnings = warnings(&file, &units);
        Ok(Self { file, units, probes, warnings })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        self.file.name.as_deref().unwrap_or("described")
    }

    /// What cells, steps and density 1 are, where it says so.
    pub fn units(&self) -> Option<Units> {
        self.file.units.as_ref().map(|_| self.units)
    }

    /// After how many steps there is a line in tables.
    pub fn every(&self) -> Option<u64> {
        self.file.every
    }

    /// Its probes.
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// What is out of the range in which the method is good, beside what [`Case::warnings`] says.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The case, with the files of its bodies read. Collective.
    ///
    /// # Errors
    /// The same on every rank: what a file says, and what cannot be made of it.
    #[track_caller]
    pub fn case(&self, world: &World, load: &Load<'_>) -> Result<Case> {
        let _call = CallSite::enter();
        let (file, units) = (&self.file, &self.units);
        let (lattice, fluid, reference) = (file.lattice.get_ref(), file.fluid.get_ref(), file.reference.get_ref());
        let set = velocities(lattice);
        let magic = lattice.magic.unwrap_or(3.0 / 16.0);
        let velocity = fluid.velocity.map(|u| u / units.speed());
        let mut problem = Problem::new(set, lattice.cells)
            .viscosity(fluid.viscosity / units.viscosity())
            .force(fluid.acceleration.map(|a| a / units.acceleration()))
            .collision(match lattice.collision {
                None | Some(Relaxation::Trt) => Collision::Trt { magic },
                Some(Relaxation::Bgk) => Collision::Bgk,
                Some(Relaxation::Cumulant) => Collision::Cumulant,
            })
            .start(|_| 1.0, move |_| velocity);
        if let Some(constant) = lattice.smagorinsky {
            problem = problem.smagorinsky(constant);
        }
        problem = sides::put(problem, file, units);
        let mut body_warnings = Vec::new();
        for (number, body) in file.bodies.iter().enumerate() {
            let (with_body, warnings) = bodies::put(world, problem, body.get_ref(), number, file, units, load)?;
            problem = with_body;
            body_warnings.extend(warnings);
        }
        let dimensions = set.axes() as i32 - 1;
        Ok(Case {
            name: "described",
            problem,
            length: reference.length / units.cell,
            speed: reference.speed / units.speed(),
            steps: file.steps,
            exact: None,
            area: reference.area.map(|area| area / units.cell.powi(dimensions)),
            body_warnings,
        })
    }
}

pub(super) fn velocities(lattice: &schema::Lattice) -> VelocitySet {
    match lattice.velocities {
        Some(Velocities::D2Q9) => VelocitySet::D2Q9,
        Some(Velocities::D3Q27) => VelocitySet::D3Q27,
        Some(Velocities::D3Q19) => VelocitySet::D3Q19,
        None if lattice.cells[2] == 1 => VelocitySet::D2Q9,
        None if lattice.collision == Some(Relaxation::Cumulant) => VelocitySet::D3Q27,
        None => VelocitySet::D3Q19,
    }
}

/// # Errors
/// Numbers that cannot be, or that say the same thing twice.
fn units(text: &Text, file: &File) -> std::result::Result<Units, FlowError> {
    let Some(table) = &file.units else { return Ok(Units::LATTICE) };
    let said = table.get_ref();
    text.positive(table, "units.cell", said.cell)?;
    text.positive(table, "units.density", said.density)?;
    let step = match (said.step, said.lattice_speed) {
        (Some(step), None) => {
            text.positive(table, "units.step", step)?;
            step
        }
        (None, Some(speed)) => {
            text.positive(table, "units.lattice_speed", speed)?;
            speed * said.cell / file.reference.get_ref().speed
        }
        _ => {
            let wrong = "give one of step, the time of a step in s, and lattice_speed, the cells that reference.speed is in a step";
            return Err(text.wrong(table, "units", wrong));
        }
    };
    let units = Units { cell: said.cell, step, density: said.density };
    let all = [units.step, units.viscosity(), units.acceleration(), units.pressure(), units.torque(false)];
    match all.iter().all(|x| *x > 0.0 && x.is_finite()) {
        true => Ok(units),
        false => {
            Err(text.wrong(table, "units", "they are so small or so large that numbers in them are none any more"))
        }
    }
}

/// # Errors
/// Two of one name, or names that a table cannot have; a place beyond the box.
fn probes(text: &Text, file: &File, units: &Units) -> std::result::Result<Vec<Probe>, FlowError> {
    let mut all: Vec<Probe> = Vec::new();
    for (number, table) in file.probes.iter().enumerate() {
        let (key, probe) = (format!("probes[{number}]"), table.get_ref());
        if probe.name.is_empty() || probe.name.contains([',', '"', '\n', '\r']) {
            let wrong = "it must be some text without commas, quotation marks and ends of lines";
            return Err(text.wrong(table, &format!("{key}.name"), wrong));
        }
        if all.iter().any(|other| other.name == probe.name) {
            return Err(text.wrong(
                table,
                &format!("{key}.name"),
                format!("there are two of the name {:?}", probe.name),
            ));
        }
        let cells = file.lattice.get_ref().cells;
        for (axis, &n) in cells.iter().enumerate() {
            let most = n as f64 * units.cell;
            if !(0.0..most).contains(&probe.at[axis]) {
                let wrong = format!("{} along axis {axis} must be from 0 to below {most}, in the box", probe.at[axis]);
                return Err(text.wrong(table, &format!("{key}.at"), wrong));
            }
        }
        let place = std::array::from_fn(|axis| ((probe.at[axis] / units.cell) as i64).min(cells[axis] - 1));
        all.push(Probe { name: probe.name.clone(), place });
    }
    Ok(all)
}

/// Speeds other than the reference's that are too fast, bodies that are small or cut off, and fluid
/// that has no way out.
fn warnings(file: &File, units: &Units) -> Vec<String> {
    let speeds = sides::speeds(file).into_iter().chain(bodies::speeds(file));
    let start = ("fluid.velocity".to_owned(), file.fluid.get_ref().velocity);
    let fast = speeds.chain([start]).filter_map(|(key, u)| {
        let mach = u.iter().map(|u| u * u).sum::<f64>().sqrt() / units.speed() * 3.0_f64.sqrt();
        (mach > 0.3)
            .then(|| format!("{key} has Mach number {mach:.2}: above 0.3 the fluid is no longer incompressible"))
    });
    let axes = velocities(file.lattice.get_ref()).axes();
    let cut = bodies::cut(file, units, axes);
    fast.chain(bodies::small(file, units)).chain(cut).chain(sides::imbalance(file, units)).collect()
}
