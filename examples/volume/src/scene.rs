//! Distributed volume and its pictures.

use std::sync::Arc;

use zippy::region::Region;
use zippy::transport::TransportKind;
use zippy::{ArrayOptions, GlobalArray, Layout, Moved, Result, World};
use zippy_files::said;
use zippy_io::image::Image;
use zippy_render::volume::{Frame, Look, Preset, Rescale, Values};

use super::clock::PhaseClock;
use super::compile::compile;
use super::cut::Decomposition;
use super::isosurface::{Isosurface, VolumeAndSurfaceRenderer};
use super::measurements::Measurements;
use super::options::Options;
use super::phase::Phase;
use super::picture_setup::PictureSetup;
use super::picture_writer::{self, PictureWriter};
use super::report::{RenderInfo, Report, VolumeInfo};
use super::say::complain;
use super::source::{BoxReader, Source};
use super::units::{NumberStatistics, Value};
use super::value_mapping::ValueMapping;
use super::view::{self, Link};
use super::viewer_setup::ViewerSetup;

/// A volume with the settings of its pictures.
pub struct Scene<'a> {
    pub options: &'a Options,
    pub decomposition: &'a Decomposition,
    /// True if pictures are written to files.
    pub write: bool,
    /// Link to the window of `--view`, which replaces picture files.
    pub link: Option<&'a Arc<Link>>,
    pub source: &'a Source,
    pub setup: &'a PictureSetup,
}

/// Picture and report on rank 0.
pub struct Rendered {
    /// The last picture.
    pub image: Image,
    /// Background colour.
    pub background: [f32; 3],
    pub report: Report,
}

impl Scene<'_> {
    /// Reads the volume, renders it and writes the pictures. Collective.
    ///
    /// # Errors
    /// A failure of any rank; files that cannot be read or written.
    pub fn render<T: Value>(
        &self,
        world: &World,
        mut clock: PhaseClock,
        read: BoxReader<'_, T>,
    ) -> Result<Option<Rendered>> {
        let pipelines_made = || world.gpu().counters().pipelines_made;
        let initial = pipelines_made();
        let volume = self.create_volume::<T>(world)?;
        let options = self.options.renderer(self.source.components());
        if self.link.is_none() {
            compile::<T>(world, self.setup, options.clone())?;
        }
        clock.end(Phase::Compile);
        let compiled = pipelines_made();
        let (units, statistics) = self.fill_volume(world, &volume, read)?;
        clock.end(Phase::Read);
        let stored = Values::measure(world, &volume, self.source.components())?;
        let mode = options.mode;
        let mut renderer = VolumeAndSurfaceRenderer::new(world, &volume, self.source.grid(), options)?;
        let mapping = ValueMapping { stored, units, file: self.source.rescale() };
        let rescale = mapping.rescale();
        let values = rescale.values(&mapping.stored);
        self.setup.check_labels(&values)?;
        let isosurface = self.options.isosurface.iso.map(|isovalue| self.isosurface_of_value(isovalue));
        let to_stored = |shown: &Isosurface| Isosurface { isovalue: rescale.stored(shown.isovalue), ..shown.clone() };
        if let Some(link) = self.link {
            drop(clock);
            let draw = |look: &Look, shown: Option<&Isosurface>| {
                let transfer = rescale.transfer(&look.transfer);
                renderer
                    .render(&mapping.limit_transfer(Look { transfer, ..look.clone() }), shown.map(to_stored).as_ref())
            };
            let viewer_setup = ViewerSetup {
                isosurface: self.viewer_isosurface(isosurface, &values),
                ..self.viewer_setup(world, &values, &mapping)
            };
            return view::show(world, link, viewer_setup, draw).map(|()| None);
        }
        let look = self.setup.stored_look(&mapping);
        let termination = look.termination;
        // The first picture of any size creates the tables.
        let shown = isosurface.as_ref().map(to_stored);
        let mut draw = |look: &Look| renderer.render(look, shown.as_ref());
        draw(&Look { size: (1, 1), ..look.clone() })?;
        clock.end(Phase::Prepare);
        let ready = pipelines_made();
        let frames = self.render_frames(world, draw, look, &mut clock)?;
        let (times, composite, cells) = (clock.finish(), frames.moved, vec![frames.cells]);
        let pipelines = [compiled - initial, ready - compiled, pipelines_made() - ready];
        let measured = Measurements { times, frames: frames.count, pipelines, composite, cells };
        let measured = measured.over_ranks(world)?;
        let volume_info =
            VolumeInfo::new(self.source, &statistics, values.range(), frames.is_visible, self.options.isosurface.iso);
        let render_info = RenderInfo { mode, layers: frames.layers, termination };
        let report = Report::new(world, volume.core(), volume_info, render_info, measured);
        let background = self.setup.background();
        Ok(frames.last.map(|image| Rendered { image, background, report }))
    }

    /// Creates the array of the volume with the requested decomposition. The components of a voxel
    /// are adjacent on the first axis.
    fn create_volume<T: Value>(&self, world: &World) -> Result<GlobalArray<T, 3>> {
        let components = self.source.components();
        let limit = world.limits().buffer_bytes;
        let (layout, owners) =
            self.decomposition.layout(self.source.shape(), world.size(), T::INFO.bytes * components, limit)?;
        if components == 1 {
            return world.array("volume", ArrayOptions::new(&layout).owned_by(owners));
        }
        let chunks = layout.resolve(world.size(), T::INFO.bytes * components, limit)?;
        let boxes =
            (0..chunks.count()).map(|chunk| scale_first_axis(chunks.region(chunk), |edge| edge * components as i64));
        let mut shape = self.source.shape();
        shape[0] *= components as i64;
        world.array("volume", ArrayOptions::new(&Layout::new(shape).boxes(boxes.collect())).owned_by(owners))
    }

    /// Reads or computes the voxels of this rank's chunks. If 32-bit floats would not distinguish
    /// the numbers, reads them a second time with other units. Returns the units and the statistics
    /// of all ranks in these units.
    fn fill_volume<T: Value>(
        &self,
        world: &World,
        volume: &GlobalArray<T, 3>,
        read: BoxReader<'_, T>,
    ) -> Result<(Rescale, NumberStatistics)> {
        let components = self.source.components() as i64;
        let chunks: Vec<_> = volume.chunks().collect();
        let boxes: Vec<_> =
            chunks.iter().map(|chunk| scale_first_axis(chunk.region(), |edge| edge / components)).collect();
        let fill = |units: &Rescale| {
            let filled = read(units, &boxes, &mut |index, values| chunks[index].all().write(&values));
            world.agree("reading the volume", filled)?.over_ranks(world)
        };
        let statistics = fill(&Rescale::default())?;
        let units = statistics.units(self.source.kind().range().is_some());
        // Colours have a fixed range.
        let keeps_numbers = units == Rescale::default() || components == 4;
        let (units, statistics) = if keeps_numbers { (Rescale::default(), statistics) } else { (units, fill(&units)?) };
        // The report has the note of rank 0.
        self.source.late_note().filter(|_| world.rank() > 0).into_iter().for_each(|note| {
            complain(format_args!("note: {}", said(&note)));
        });
        Ok((units, statistics))
    }

    fn isosurface_of_value(&self, isovalue: f64) -> Isosurface {
        Isosurface { isovalue, material: self.options.isosurface.material() }
    }

    /// Isosurface that the window can show: the requested one (shown at first), or one at the
    /// opacity threshold of the values.
    fn viewer_isosurface(&self, requested: Option<Isosurface>, values: &Values) -> Option<(Isosurface, bool)> {
        let is_requested = requested.is_some();
        let shown = requested.unwrap_or_else(|| self.isosurface_of_value(values.opacity().threshold()));
        (self.source.components() == 1).then_some((shown, is_requested))
    }

    fn viewer_setup(&self, world: &World, values: &Values, mapping: &ValueMapping) -> ViewerSetup {
        let (look, to_values) = (self.setup.look(mapping), mapping.rescale().inverse());
        let (shape, grid) = (self.source.shape(), self.source.grid());
        let initial = ("as given", look.transfer.clone());
        let presets = Preset::ALL.into_iter().map(|preset| {
            let transfer = to_values.transfer(&self.setup.preset(preset, mapping));
            (preset.name(), transfer)
        });
        ViewerSetup {
            title: format!("{} · {shape:?} · {} ranks", self.source.name(), world.size()),
            size: std::array::from_fn(|axis| (shape[axis] - 1) as f64 * grid.spacing[axis]),
            bounds: grid.bounds(shape),
            finest_spacing: grid.spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length)),
            look,
            background: self.setup.background(),
            values: values.opacity().clone(),
            isosurface: None,
            presets: std::iter::once(initial).chain(presets).collect(),
        }
    }

    fn render_frames(
        &self,
        world: &World,
        mut draw: impl FnMut(&Look) -> Result<Frame>,
        mut look: Look,
        clock: &mut PhaseClock,
    ) -> Result<FrameTotals> {
        let options = self.options;
        let cameras = match &options.movie.movie {
            Some(path) => {
                let cameras = path.cameras(&look.camera, &self.setup.framing, options.movie.frames);
                let cameras = world.agree("reading the camera's path", cameras.map_err(Into::into))?;
                clock.start_movie(options.movie.frames);
                cameras
            }
            None => vec![look.camera.clone()],
        };
        for _ in 1..options.check.repeat {
            clock.skip();
            draw(&look)?;
            clock.end_trial_frame();
        }
        let output = options.output();
        let (rate, is_writer) = (options.movie.fps.unwrap_or(24.0), world.rank() == 0);
        let writer = match self.write {
            true if is_writer => PictureWriter::open(&output, self.setup.style, cameras.len() as u32, rate).map(Some),
            true if world.group().kind() == TransportKind::Mpi => picture_writer::delay_exit_on_signal().map(|()| None),
            _ => Ok(None),
        };
        let mut writer = world.agree("making the picture's file", writer)?;
        let mut frames = FrameTotals { count: cameras.len() as u32, ..FrameTotals::default() };
        for camera in cameras {
            look.camera = camera;
            clock.skip();
            let frame = draw(&look)?;
            clock.end_frame(&frame);
            frames.add(&frame);
            let written = match (&mut writer, &frame.image) {
                (Some(writer), Some(image)) => writer.write(image),
                _ => Ok(()),
            };
            world.agree("writing the picture", written.map_err(Into::into))?;
            clock.record(Phase::Write);
            frames.last = frame.image;
        }
        let finished = writer.map_or(Ok(()), PictureWriter::finish);
        world.agree("writing the picture", finished.map_err(Into::into))?;
        clock.end(Phase::Write);
        Ok(frames)
    }
}

/// Totals over the frames on this rank.
#[derive(Default)]
struct FrameTotals {
    count: u32,
    layers: usize,
    cells: u64,
    moved: Moved,
    /// True if a pixel of any frame is not transparent, on the rank that has the pictures.
    is_visible: bool,
    last: Option<Image>,
}

impl FrameTotals {
    fn add(&mut self, frame: &Frame) {
        (self.layers, self.cells) = (frame.layers, frame.cells);
        self.is_visible |= frame.image.iter().flat_map(|image| &image.pixels).any(|pixel| pixel[3] > 0.0);
        self.moved.bytes_local += frame.moved.bytes_local;
        self.moved.bytes_network += frame.moved.bytes_network;
        self.moved.messages += frame.moved.messages;
        self.moved.rounds = frame.moved.rounds;
    }
}

/// Applies `unit` to the bounds of a box on the first axis.
fn scale_first_axis(mut region: Region, unit: impl Fn(i64) -> i64) -> Region {
    (region.start[0], region.end[0]) = (unit(region.start[0]), unit(region.end[0]));
    region
}
