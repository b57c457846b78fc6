//! Files that a run writes as it goes, except checkpoints.

use zippy::{Result, World};
use zippy_lbm::described::Probe;
use zippy_lbm::{Fields, Flow};

use crate::files::Fieldbook;
use crate::made::Made;
use crate::options::Options;
use crate::picture::Painter;
use crate::tables::{self, Forces, Probes};

/// Outputs of a running flow, except checkpoints.
pub struct Outputs<'w> {
    pub painter: Option<Painter<'w>>,
    book: Option<Fieldbook>,
    forces: Option<Forces>,
    probes: Option<Probes>,
    /// The steps at which pictures and files, and lines of tables, were written last.
    last: [Option<u64>; 2],
}

impl<'w> Outputs<'w> {
    pub fn open(world: &'w World, options: &Options, made: &Made, flow: &Flow, frames: u64) -> Result<Self> {
        let inputs = &options.inputs;
        let given = inputs.probe.iter().enumerate().map(|(k, &place)| Probe { name: k.to_string(), place });
        let places: Vec<Probe> = made.probes.iter().cloned().chain(given).collect();
        // Before anything is written over.
        if inputs.probes.is_some() {
            tables::check(flow, &places)?;
        }
        // A window shows itself; a file besides it was requested.
        let drawn = options.render.filter(|_| !options.showing.view || options.output.is_some());
        let painter = drawn.map(|shown| Painter::new(world, options, shown, &made.case, flow, frames)).transpose()?;
        let book = options.fields.as_deref().map(|directory| Fieldbook::open(world, directory, flow)).transpose()?;
        let units = made.units;
        let forces = inputs.forces.as_deref().map(|path| Forces::open(world, path, flow, units)).transpose()?;
        let probes = inputs.probes.as_deref().map(|path| Probes::open(world, path, flow, places, units)).transpose()?;
        Ok(Self { painter, book, forces, probes, last: [None; 2] })
    }

    pub fn has_tables(&self) -> bool {
        self.forces.is_some() || self.probes.is_some()
    }

    /// Pictures and files, once a step.
    pub fn write(&mut self, world: &World, flow: &mut Flow, fields: &Fields) -> Result<()> {
        if self.last[0].replace(flow.steps()) == Some(flow.steps()) {
            return Ok(());
        }
        if let Some(painter) = &mut self.painter {
            painter.paint(flow, fields)?;
        }
        if let Some(book) = &mut self.book {
            book.write(world, flow, fields)?;
        }
        Ok(())
    }

    /// Lines of tables, once a step.
    pub fn lines(&mut self, world: &World, flow: &mut Flow, fields: &Fields) -> Result<()> {
        if self.last[1].replace(flow.steps()) == Some(flow.steps()) {
            return Ok(());
        }
        if let Some(forces) = &mut self.forces {
            forces.write(world, flow)?;
        }
        self.probes.as_mut().map_or(Ok(()), |probes| probes.write(world, flow, fields))
    }
}
