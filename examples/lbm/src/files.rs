//! What a run leaves in files as it goes: fields for ParaView, and the forces on bodies as a table.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use zippy::{Error, GlobalArray, Result, World};
use zippy_io::array::{SaveOptions, TimeSeries, save_with};
use zippy_lbm::{Fields, Flow, Quantity};

/// Fields in a directory: a file a field and step, and an index of each field's files.
pub struct Fieldbook {
    directory: PathBuf,
    values: GlobalArray<f32, 3>,
    series: Vec<(&'static str, TimeSeries)>,
}

impl Fieldbook {
    /// Makes the directory. Collective.
    pub fn open(world: &World, directory: &Path, flow: &Flow) -> Result<Self> {
        let made = std::fs::create_dir_all(directory)
            .map_err(|error| Error::program(format!("cannot make the directory {}: {error}", directory.display())));
        world.agree("making the directory of fields", made)?;
        let index = |name: &'static str| Ok((name, TimeSeries::open(world, directory.join(format!("{name}.pvd")))?));
        let series = ["density", "speed", "vorticity", "q"].into_iter().map(index).collect::<Result<_>>()?;
        Ok(Self { directory: directory.to_owned(), values: flow.quantity_array("saved")?, series })
    }

    /// Writes the flow as it is. Collective.
    pub fn write(&mut self, world: &World, flow: &mut Flow, fields: &Fields) -> Result<()> {
        let steps = flow.steps();
        let [x, y, z] = flow.inside();
        for (name, series) in &mut self.series {
            let quantity = match *name {
                "speed" => Some(Quantity::Speed),
                "vorticity" => Some(Quantity::Vorticity),
                "q" => Some(Quantity::QCriterion),
                _ => None,
            };
            let array = match quantity {
                Some(quantity) => {
                    flow.quantity_into(quantity, fields, &self.values)?;
                    &self.values
                }
                None => {
                    flow.fields_into(fields)?;
                    &fields.excess
                }
            };
            let file = self.directory.join(format!("{name}-{steps:09}.vti"));
            let mut options = SaveOptions::new();
            options.metadata.name = Some((*name).to_owned());
            save_with(world, &file, &array.at((x.clone(), y.clone(), z.clone())), &options)?;
            series.append(world, steps as f64, &file)?;
        }
        Ok(())
    }
}

/// Forces and torques on all bodies, a line a look.
pub struct Table(Option<File>);

impl Table {
    /// Begins the file; a run that goes on after a checkpoint appends. Collective.
    pub fn open(world: &World, path: &Path, goes_on: bool) -> Result<Self> {
        let opened = || -> std::io::Result<File> {
            let mut file = File::options().create(true).write(true).append(goes_on).truncate(!goes_on).open(path)?;
            if file.metadata()?.len() == 0 {
                writeln!(file, "step,body,force_x,force_y,force_z,torque_x,torque_y,torque_z")?;
            }
            Ok(file)
        };
        let file = (world.rank() == 0).then(opened).transpose();
        let wrong = |error: std::io::Error| Error::program(format!("cannot write {}: {error}", path.display()));
        Ok(Self(world.agree("opening the table of forces", file.map_err(wrong))?))
    }

    /// Collective.
    pub fn write(&mut self, world: &World, flow: &mut Flow) -> Result<()> {
        let pulls = flow.pulls()?;
        let written = self.0.as_mut().map_or(Ok(()), |file| {
            pulls.iter().enumerate().try_for_each(|(body, pull)| {
                let [[a, b, c], [d, e, f]] = [pull.force, pull.torque];
                writeln!(file, "{},{body},{a:e},{b:e},{c:e},{d:e},{e:e},{f:e}", flow.steps())
            })
        });
        let wrong = |error: std::io::Error| Error::program(format!("cannot write the table of forces: {error}"));
        world.agree("writing the table of forces", written.map_err(wrong))
    }
}
