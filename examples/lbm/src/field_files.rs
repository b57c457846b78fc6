//! Field files for ParaView.

use std::path::{Path, PathBuf};

use zippy::{Error, GlobalArray, Result, World};
use zippy_lbm::{Fields, Flow, FlowSample, Quantity};
use zippy_store::array::{SaveOptions, TimeSeries, save_with};

/// Writer of fields into a directory: one file for each field and step, and an index for each
/// field.
pub(crate) struct FieldFiles {
    directory: PathBuf,
    values: GlobalArray<f32, 3>,
    samples: GlobalArray<FlowSample, 3>,
    series: Vec<(&'static str, TimeSeries)>,
}

impl FieldFiles {
    /// Creates the directory. Existing indices keep entries of earlier steps. Collective.
    pub(crate) fn open(world: &World, directory: &Path, flow: &Flow<'_>) -> Result<Self> {
        let created = std::fs::create_dir_all(directory)
            .map_err(|error| Error::program(format!("cannot create the directory {}: {error}", directory.display())));
        world.agree("creating the directory of fields", created)?;
        let index = |name: &'static str| {
            let mut series = TimeSeries::open(world, directory.join(format!("{name}.pvd")))?;
            series.keep_before(flow.steps() as f64);
            Ok((name, series))
        };
        let series = ["motion", "speed", "vorticity", "q"].into_iter().map(index).collect::<Result<_>>()?;
        let (values, samples) = (flow.scalar_array("saved")?, flow.sample_array("motion")?);
        Ok(Self { directory: directory.to_owned(), values, samples, series })
    }

    /// Writes the current fields. Collective.
    pub(crate) fn write(&mut self, world: &World, flow: &mut Flow<'_>, fields: &Fields) -> Result<()> {
        let steps = flow.steps();
        for (name, series) in &mut self.series {
            let quantity = match *name {
                "speed" => Some(Quantity::Speed),
                "vorticity" => Some(Quantity::Vorticity),
                "q" => Some(Quantity::QCriterion),
                _ => None,
            };
            let file = self.directory.join(format!("{name}-{steps:09}.vti"));
            let mut options = SaveOptions::new();
            let saved = flow.grid().section(flow.box_ranges().map(|axis| axis.start), [1; 3]);
            options.metadata = options.metadata.with_grid(&saved);
            options.metadata.name = Some((*name).to_owned());
            match quantity {
                Some(quantity) => {
                    flow.compute_quantity(quantity, fields, &self.values)?;
                    save_with(world, &file, self.values.at(flow.box_ranges()), &options)?;
                }
                None => {
                    flow.compute_samples(fields, &self.samples)?;
                    save_with(world, &file, self.samples.at(flow.box_ranges()), &options)?;
                }
            }
            series.append(world, steps as f64, &file)?;
        }
        Ok(())
    }
}
