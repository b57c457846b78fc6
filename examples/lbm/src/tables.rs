//! Tables that grow while a flow runs: forces on bodies, and what probes see.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use zippy::{Error, Result, World};
use zippy_io::write_whole;
use zippy_lbm::described::Probe;
use zippy_lbm::{Fields, Flow, Units};

/// A file of lines that begin with a step; on rank 0 only.
struct Table {
    path: PathBuf,
    file: Option<File>,
}

impl Table {
    /// Begins a table. A run that goes on keeps the lines of steps before it. Collective.
    fn open(world: &World, path: &Path, header: &str, flow: &Flow) -> Result<Self> {
        let wrong = |error: std::io::Error| Error::program(format!("cannot write {}: {error}", path.display()));
        let open = || -> Result<File> {
            let mut text = format!("{header}\n");
            if flow.steps() > 0 && path.try_exists().map_err(wrong)? {
                let before = std::fs::read_to_string(path).map_err(wrong)?;
                let (first, lines) = before.split_once('\n').unwrap_or((&before, ""));
                if first != header {
                    let message =
                        format!("{} is another table: it begins with {first:?}, not {header:?}", path.display());
                    return Err(Error::program(message));
                }
                let step = |line: &str| line.split(',').next().and_then(|step| step.parse::<u64>().ok());
                let kept = lines.lines().filter(|line| step(line).is_some_and(|step| step < flow.steps()));
                kept.for_each(|line| _ = writeln!(text, "{line}"));
            }
            write_whole(path, text.as_bytes())?;
            File::options().append(true).open(path).map_err(wrong)
        };
        let file = (world.rank() == 0).then(open).transpose();
        Ok(Self { path: path.to_owned(), file: world.agree("opening a table", file)? })
    }

    /// Puts lines, which rank 0 has, behind the others. Collective.
    fn put(&mut self, world: &World, lines: &str) -> Result<()> {
        let written = self.file.as_mut().map_or(Ok(()), |file| file.write_all(lines.as_bytes()));
        let wrong = |error| Error::program(format!("cannot write {}: {error}", self.path.display()));
        world.agree("writing a table", written.map_err(wrong))
    }
}

/// The step, and with physical units the time.
fn begin(flow: &Flow, units: Option<Units>) -> String {
    match units {
        Some(units) => format!("{},{:e}", flow.steps(), flow.steps() as f64 * units.step),
        None => flow.steps().to_string(),
    }
}

/// Forces and torques on all bodies, a line a look.
pub struct Forces {
    table: Table,
    units: Option<Units>,
}

impl Forces {
    /// Collective.
    pub fn open(world: &World, path: &Path, flow: &Flow, units: Option<Units>) -> Result<Self> {
        let header = match units {
            Some(_) => "step,time_s,body,force_x_N,force_y_N,force_z_N,torque_x_Nm,torque_y_Nm,torque_z_Nm",
            None => "step,body,force_x,force_y,force_z,torque_x,torque_y,torque_z",
        };
        Ok(Self { table: Table::open(world, path, header, flow)?, units })
    }

    /// Collective.
    pub fn write(&mut self, world: &World, flow: &mut Flow) -> Result<()> {
        let plane = flow.problem().velocities().axes() == 2;
        let scale = self.units.map_or([1.0; 2], |units| [units.force(plane), units.torque(plane)]);
        let mut lines = String::new();
        for (body, pull) in flow.pulls()?.into_iter().enumerate() {
            let ([a, b, c], [d, e, f]) = (pull.force.map(|x| x * scale[0]), pull.torque.map(|x| x * scale[1]));
            let begin = begin(flow, self.units);
            _ = writeln!(lines, "{begin},{body},{a:e},{b:e},{c:e},{d:e},{e:e},{f:e}");
        }
        self.table.put(world, &lines)
    }
}

/// Whether probes are where they can see something.
///
/// # Errors
/// None; a probe beyond the box, or where there is no fluid.
pub fn check(flow: &Flow, probes: &[Probe]) -> Result<()> {
    let n = flow.inside().map(|axis| axis.end - axis.start);
    if probes.is_empty() {
        let wrong = "--probes writes what probes see: --probe X,Y,Z, or [[probes]] of the file that describes the case";
        return Err(Error::program(wrong));
    }
    for Probe { name, place } in probes {
        if !(0..3).all(|axis| (0..n[axis]).contains(&place[axis])) {
            let wrong = format!("the probe {name} is at cell {place:?}, but the box has {n:?} cells, counted from 0");
            return Err(Error::program(wrong));
        }
        if !flow.problem().flows(*place) {
            return Err(Error::program(format!("the probe {name} is at cell {place:?}, which is solid")));
        }
    }
    Ok(())
}

/// Density and velocity at some cells, a line a look and probe.
pub struct Probes {
    table: Table,
    units: Option<Units>,
    probes: Vec<Probe>,
}

impl Probes {
    /// Of probes that have been [checked](check). Collective.
    pub fn open(world: &World, path: &Path, flow: &Flow, probes: Vec<Probe>, units: Option<Units>) -> Result<Self> {
        let header = match units {
            Some(_) => "step,time_s,probe,pressure_Pa,velocity_x_m_s,velocity_y_m_s,velocity_z_m_s",
            None => "step,probe,density_beyond_1,velocity_x,velocity_y,velocity_z",
        };
        Ok(Self { table: Table::open(world, path, header, flow)?, units, probes })
    }

    /// Collective.
    pub fn write(&mut self, world: &World, flow: &mut Flow, fields: &Fields) -> Result<()> {
        flow.fields_into(fields)?;
        let inside = flow.inside();
        let ask = |probe: &Probe| -> Result<_> {
            let [x, y, z]: [i64; 3] = std::array::from_fn(|axis| inside[axis].start + probe.place[axis]);
            Ok((world.get(fields.excess.at((x, y, z)))?, world.get(fields.velocity.at((x, y, z, ..)))?))
        };
        let asking = if world.rank() == 0 { &self.probes[..] } else { &[] };
        let wanted = world.agree("asking what probes see", asking.iter().map(ask).collect::<Result<Vec<_>>>())?;
        let mut fetched = world.fence()?;
        let mut lines = String::new();
        let scale = self.units.map_or([1.0; 2], |units| [units.pressure(), units.speed()]);
        for ((excess, velocity), probe) in wanted.into_iter().zip(&self.probes) {
            let (excess, velocity) = (fetched.redeem(excess)?, fetched.redeem(velocity)?);
            let density = f64::from(excess[0]) * scale[0];
            let u: Vec<f64> = velocity.iter().map(|&u| f64::from(u) * scale[1]).collect();
            let (begin, name) = (begin(flow, self.units), &probe.name);
            _ = writeln!(lines, "{begin},{name},{density:e},{:e},{:e},{:e}", u[0], u[1], u[2]);
        }
        self.table.put(world, &lines)
    }
}
