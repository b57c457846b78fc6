//! Output files of a running flow, except checkpoints.

use zippy::{Result, World};
use zippy_lbm::case_file::Probe;
use zippy_lbm::{Fields, Flow};

use crate::field_files::FieldFiles;
use crate::frame_writer::FrameWriter;
use crate::options::Options;
use crate::prepared_case::PreparedCase;
use crate::tables::{self, ForceTable, ProbeTable};

/// Output files of a running flow, except checkpoints.
pub(crate) struct Outputs<'w> {
    pub frames: Option<FrameWriter<'w>>,
    field_files: Option<FieldFiles>,
    forces: Option<ForceTable>,
    probes: Option<ProbeTable>,
    /// Step of the last pictures and field files.
    last_pictures: Option<u64>,
    /// Step of the last lines of tables.
    last_lines: Option<u64>,
}

impl<'w> Outputs<'w> {
    pub(crate) fn open(
        world: &'w World,
        options: &Options,
        prepared: &PreparedCase,
        flow: &Flow<'_>,
        frame_count: u64,
    ) -> Result<Self> {
        let inputs = &options.inputs;
        let option_probes = inputs.probe.iter().enumerate().map(|(k, &cell)| Probe { name: k.to_string(), cell });
        let probe_list: Vec<Probe> = prepared.probes.iter().cloned().chain(option_probes).collect();
        // Checked before any file is replaced.
        if inputs.probes.is_some() {
            tables::check_probes(flow, &probe_list)?;
        }
        // With a window, a file is written only if it is requested.
        let quantity = options.render.filter(|_| !options.pictures.view || options.output.is_some());
        let frames = quantity
            .map(|quantity| FrameWriter::new(world, options, quantity, &prepared.case, flow, frame_count))
            .transpose()?;
        let field_files =
            options.fields.as_deref().map(|directory| FieldFiles::open(world, directory, flow)).transpose()?;
        let units = prepared.units;
        let forces = inputs.forces.as_deref().map(|path| ForceTable::open(world, path, flow, units)).transpose()?;
        let probes =
            inputs.probes.as_deref().map(|path| ProbeTable::open(world, path, flow, probe_list, units)).transpose()?;
        Ok(Self { frames, field_files, forces, probes, last_pictures: None, last_lines: None })
    }

    pub(crate) fn has_tables(&self) -> bool {
        self.forces.is_some() || self.probes.is_some()
    }

    /// Writes pictures and field files, once for each step. Collective.
    pub(crate) fn write(&mut self, world: &World, flow: &mut Flow<'_>, fields: &Fields) -> Result<()> {
        if self.last_pictures.replace(flow.steps()) == Some(flow.steps()) {
            return Ok(());
        }
        if let Some(frames) = &mut self.frames {
            frames.write(flow, fields)?;
        }
        if let Some(files) = &mut self.field_files {
            files.write(world, flow, fields)?;
        }
        Ok(())
    }

    /// Writes lines of tables, once for each step. Collective.
    pub(crate) fn write_tables(&mut self, world: &World, flow: &mut Flow<'_>, fields: &Fields) -> Result<()> {
        if self.last_lines.replace(flow.steps()) == Some(flow.steps()) {
            return Ok(());
        }
        if let Some(forces) = &mut self.forces {
            forces.write(world, flow)?;
        }
        self.probes.as_mut().map_or(Ok(()), |probes| probes.write(world, flow, fields))
    }
}
