//! CSV tables of a running flow: forces on bodies, and values at probes.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use zippy::{Error, Result, World};
use zippy_files::write_whole;
use zippy_lbm::case_file::Probe;
use zippy_lbm::{Fields, Flow, Units};

/// CSV file whose lines begin with a step; open on rank 0 only.
struct Table {
    path: PathBuf,
    file: Option<File>,
}

impl Table {
    /// Opens a table. A continued run keeps lines of earlier steps. Collective.
    fn open(world: &World, path: &Path, header: &str, flow: &Flow<'_>) -> Result<Self> {
        let write_error = |error: std::io::Error| Error::program(format!("cannot write {}: {error}", path.display()));
        let open = || -> Result<File> {
            let mut text = format!("{header}\n");
            if flow.steps() > 0 && path.try_exists().map_err(write_error)? {
                let old_text = std::fs::read_to_string(path).map_err(write_error)?;
                let (first, lines) = old_text.split_once('\n').unwrap_or((&old_text, ""));
                if first != header {
                    let message =
                        format!("{} is a different table: it begins with {first:?}, not {header:?}", path.display());
                    return Err(Error::program(message));
                }
                let step = |line: &str| line.split(',').next().and_then(|step| step.parse::<u64>().ok());
                let kept = lines.lines().filter(|line| step(line).is_some_and(|step| step < flow.steps()));
                kept.for_each(|line| _ = writeln!(text, "{line}"));
            }
            write_whole(path, text.as_bytes())?;
            File::options().append(true).open(path).map_err(write_error)
        };
        let file = (world.rank() == 0).then(open).transpose();
        Ok(Self { path: path.to_owned(), file: world.agree("opening a table", file)? })
    }

    /// Appends the lines of rank 0. Collective.
    fn append(&mut self, world: &World, lines: &str) -> Result<()> {
        let written = self.file.as_mut().map_or(Ok(()), |file| file.write_all(lines.as_bytes()));
        let write_error = |error| Error::program(format!("cannot write {}: {error}", self.path.display()));
        world.agree("writing a table", written.map_err(write_error))
    }
}

/// First columns of a line: the step and, with physical units, the time.
fn first_columns(flow: &Flow<'_>, units: Option<Units>) -> String {
    match units {
        Some(units) => format!("{},{:e}", flow.steps(), flow.steps() as f64 * units.step),
        None => flow.steps().to_string(),
    }
}

/// Table of forces and torques: one line for each body and written step.
pub(crate) struct ForceTable {
    table: Table,
    units: Option<Units>,
}

impl ForceTable {
    /// Opens the table. Collective.
    pub(crate) fn open(world: &World, path: &Path, flow: &Flow<'_>, units: Option<Units>) -> Result<Self> {
        let header = match units {
            Some(_) => "step,time_s,body,force_x_N,force_y_N,force_z_N,torque_x_Nm,torque_y_Nm,torque_z_Nm",
            None => "step,body,force_x,force_y,force_z,torque_x,torque_y,torque_z",
        };
        Ok(Self { table: Table::open(world, path, header, flow)?, units })
    }

    /// Writes the current values. Collective.
    pub(crate) fn write(&mut self, world: &World, flow: &mut Flow<'_>) -> Result<()> {
        let is_plane = flow.problem().velocity_set().axes() == 2;
        let scale = self.units.map_or([1.0; 2], |units| [units.force(is_plane), units.torque(is_plane)]);
        let mut lines = String::new();
        for (body, body_force) in flow.body_forces()?.into_iter().enumerate() {
            let ([a, b, c], [d, e, f]) =
                (body_force.force.map(|x| x * scale[0]), body_force.torque.map(|x| x * scale[1]));
            let start = first_columns(flow, self.units);
            _ = writeln!(lines, "{start},{body},{a:e},{b:e},{c:e},{d:e},{e:e},{f:e}");
        }
        self.table.append(world, &lines)
    }
}

/// Checks that probes are in fluid cells of the box.
///
/// # Errors
/// No probes; a probe outside of the box or in a solid cell.
pub(crate) fn check_probes(flow: &Flow<'_>, probes: &[Probe]) -> Result<()> {
    let n = flow.box_ranges().map(|axis| axis.end - axis.start);
    if probes.is_empty() {
        let message = "--probes needs probes: give --probe X,Y,Z, or [[probes]] in the case file";
        return Err(Error::program(message));
    }
    for Probe { name, cell } in probes {
        if !(0..3).all(|axis| (0..n[axis]).contains(&cell[axis])) {
            let message = format!("the probe {name} is at cell {cell:?}, but the box has {n:?} cells, counted from 0");
            return Err(Error::program(message));
        }
        if !flow.problem().is_fluid(*cell) {
            return Err(Error::program(format!("the probe {name} is at cell {cell:?}, which is solid")));
        }
    }
    Ok(())
}

/// Table of density and velocity: one line for each probe and written step.
pub(crate) struct ProbeTable {
    table: Table,
    units: Option<Units>,
    probes: Vec<Probe>,
}

impl ProbeTable {
    /// Opens the table of probes that have passed [`check_probes`]. Collective.
    pub(crate) fn open(
        world: &World,
        path: &Path,
        flow: &Flow<'_>,
        probes: Vec<Probe>,
        units: Option<Units>,
    ) -> Result<Self> {
        let header = match units {
            Some(_) => "step,time_s,probe,pressure_Pa,velocity_x_m_s,velocity_y_m_s,velocity_z_m_s",
            None => "step,probe,density_beyond_1,velocity_x,velocity_y,velocity_z",
        };
        Ok(Self { table: Table::open(world, path, header, flow)?, units, probes })
    }

    /// Writes the current values. Collective.
    pub(crate) fn write(&mut self, world: &World, flow: &mut Flow<'_>, fields: &Fields) -> Result<()> {
        flow.update_fields(fields)?;
        let box_ranges = flow.box_ranges();
        let get = |probe: &Probe| -> Result<_> {
            let [x, y, z]: [i64; 3] = std::array::from_fn(|axis| box_ranges[axis].start + probe.cell[axis]);
            Ok((world.get(fields.excess.at((x, y, z)))?, world.get(fields.velocity.at((x, y, z, ..)))?))
        };
        let probes = if world.rank() == 0 { &self.probes[..] } else { &[] };
        let tickets = world.agree("fetching values at probes", probes.iter().map(get).collect::<Result<Vec<_>>>())?;
        let mut fetched = world.fence()?;
        let mut lines = String::new();
        let scale = self.units.map_or([1.0; 2], |units| [units.pressure(), units.speed()]);
        for ((excess, velocity), probe) in tickets.into_iter().zip(&self.probes) {
            let (excess, velocity) = (fetched.redeem(excess)?, fetched.redeem(velocity)?);
            let density = f64::from(excess[0]) * scale[0];
            let u: Vec<f64> = velocity.iter().map(|&u| f64::from(u) * scale[1]).collect();
            let (start, name) = (first_columns(flow, self.units), &probe.name);
            _ = writeln!(lines, "{start},{name},{density:e},{:e},{:e},{:e}", u[0], u[1], u[2]);
        }
        self.table.append(world, &lines)
    }
}
