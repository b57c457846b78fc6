//! The volume on the ranks, and the pictures of it.

use std::sync::Arc;

use zippy::region::Region;
use zippy::transport::TransportKind;
use zippy::{GlobalArray, Layout, Moved, Result, World};
use zippy_io::image::Image;
use zippy_io::said;
use zippy_render::volume::{Frame, Look, Preset, Rescale, Values};

use super::clock::Clock;
use super::compile::compile;
use super::cut::Decomposition;
use super::isosurface::{Isosurface, Pictures};
use super::look::Setup;
use super::measured::Measured;
use super::numbers::Numbers;
use super::options::Options;
use super::phase::Phase;
use super::report::{Drawn, Report, Voxels};
use super::say::complain;
use super::setting::Setting;
use super::sink::{self, Sink};
use super::source::{Reader, Source};
use super::units::{Found, Value};
use super::view::{self, Link};

/// A volume and how it is looked at.
pub struct Scene<'a> {
    pub options: &'a Options,
    pub spread: &'a Decomposition,
    /// Whether pictures are written.
    pub write: bool,
    /// The window that shows the volume, instead of pictures that are written.
    pub link: Option<&'a Arc<Link>>,
    pub source: &'a Source,
    pub setup: &'a Setup,
}

/// What rank 0 has in the end.
pub struct Rendered {
    /// The last picture.
    pub image: Image,
    /// The colour behind it.
    pub background: [f32; 3],
    pub report: Report,
}

impl Scene<'_> {
    /// Reads, renders and writes. Collective.
    ///
    /// # Errors
    /// A failure of this or of another rank; files that cannot be read or written.
    pub fn render<T: Value>(&self, world: &World, mut clock: Clock, read: Reader<T>) -> Result<Option<Rendered>> {
        let made = || world.gpu().counters().pipelines_made;
        let none = made();
        let volume = self.spread::<T>(world)?;
        let options = self.options.renderer(self.source.components());
        if self.link.is_none() {
            compile::<T>(world, self.setup, options.clone())?;
        }
        clock.end(Phase::Compile);
        let compiled = made();
        let (units, found) = self.fill(world, &volume, read)?;
        clock.end(Phase::Read);
        let stored = Values::measure(world, &volume, self.source.components())?;
        let mode = options.mode;
        let mut pictures = Pictures::new(world, &volume, self.source.grid(), options)?;
        let numbers = Numbers { stored, units, file: self.source.rescale() };
        let rescale = numbers.rescale();
        let values = rescale.values(&numbers.stored);
        self.setup.check_labels(&values)?;
        let isosurface = self.options.isosurface.iso.map(|isovalue| self.isosurface(isovalue));
        let stored = |shown: &Isosurface| Isosurface { isovalue: rescale.stored(shown.isovalue), ..shown.clone() };
        if let Some(link) = self.link {
            drop(clock);
            let draw = |look: &Look, shown: Option<&Isosurface>| {
                let transfer = rescale.transfer(&look.transfer);
                pictures.render(&numbers.seen(Look { transfer, ..look.clone() }), shown.map(stored).as_ref())
            };
            let setting =
                Setting { isosurface: self.choice(isosurface, &values), ..self.setting(world, &values, &numbers) };
            return view::show(world, link, setting, draw).map(|()| None);
        }
        let look = self.setup.stored(&numbers);
        let termination = look.termination;
        // Tables are made with the first picture, however small.
        let shown = isosurface.as_ref().map(stored);
        let mut draw = |look: &Look| pictures.render(look, shown.as_ref());
        draw(&Look { size: (1, 1), ..look.clone() })?;
        clock.end(Phase::Prepare);
        let ready = made();
        let frames = self.frames(world, draw, look, &mut clock)?;
        let (times, composite, cells) = (clock.finish(), frames.moved, vec![frames.cells]);
        let pipelines = [compiled - none, ready - compiled, made() - ready];
        let measured = Measured { times, frames: frames.count, pipelines, composite, cells };
        let measured = measured.over_ranks(world)?;
        let voxels = Voxels::of(self.source, &found, values.range(), frames.seen, self.options.isosurface.iso);
        let drawn = Drawn { mode, layers: frames.layers, termination };
        let report = Report::new(world, volume.core(), voxels, drawn, measured);
        let background = self.setup.background();
        Ok(frames.last.map(|image| Rendered { image, background, report }))
    }

    /// The volume's array, cut and owned as the options say. Components lie side by side on the first axis.
    fn spread<T: Value>(&self, world: &World) -> Result<GlobalArray<T, 3>> {
        let components = self.source.components();
        let limit = world.buffer_bytes();
        let (layout, owners) =
            self.spread.layout(self.source.shape(), world.size(), T::INFO.bytes * components, limit)?;
        if components == 1 {
            return world.array_owned("volume", &layout, owners);
        }
        let chunks = layout.resolve(world.size(), T::INFO.bytes * components, limit)?;
        let boxes = (0..chunks.count()).map(|chunk| scaled(chunks.region(chunk), |edge| edge * components as i64));
        let mut shape = self.source.shape();
        shape[0] *= components as i64;
        world.array_owned("volume", &Layout::new(shape).boxes(boxes.collect()), owners)
    }

    /// Reads or computes the voxels of this rank's chunks: in the units that they have, and where 32-bit floats would
    /// not tell them apart, again in others. The units, and what numbers all ranks have in them.
    fn fill<T: Value>(&self, world: &World, volume: &GlobalArray<T, 3>, read: Reader<T>) -> Result<(Rescale, Found)> {
        let components = self.source.components() as i64;
        let chunks: Vec<_> = volume.chunks().collect();
        let boxes: Vec<_> = chunks.iter().map(|chunk| scaled(chunk.region(), |edge| edge / components)).collect();
        let fill = |units: &Rescale| {
            let filled = read(units, &boxes, &mut |number, values| chunks[number].all().write(&values));
            world.agree("reading the volume", filled)?.over_ranks(world)
        };
        let found = fill(&Rescale::default())?;
        let units = found.units(self.source.kind().range().is_some());
        // Colours are numbers of a fixed range.
        let (units, found) = match units == Rescale::default() || components == 4 {
            true => (Rescale::default(), found),
            false => (units, fill(&units)?),
        };
        // Rank 0 has it in its report.
        self.source.late_note().filter(|_| world.rank() > 0).into_iter().for_each(|note| {
            complain(format_args!("note: {}", said(&note)));
        });
        Ok((units, found))
    }

    fn isosurface(&self, isovalue: f64) -> Isosurface {
        Isosurface { isovalue, material: self.options.isosurface.material() }
    }

    /// The isosurface that a window can show: the one that was asked for, or one that lies between background and the rest.
    fn choice(&self, asked: Option<Isosurface>, values: &Values) -> Option<(Isosurface, bool)> {
        let is_asked = asked.is_some();
        let shown = asked.unwrap_or_else(|| self.isosurface(values.opacity().threshold()));
        (self.source.components() == 1).then_some((shown, is_asked))
    }

    /// What a window has to know.
    fn setting(&self, world: &World, values: &Values, numbers: &Numbers) -> Setting {
        let (look, to_values) = (self.setup.look(numbers), numbers.rescale().inverse());
        let (shape, grid) = (self.source.shape(), self.source.grid());
        let given = ("as given", look.transfer.clone());
        let shelf = Preset::ALL.into_iter().map(|preset| {
            let transfer = to_values.transfer(&self.setup.preset(preset, numbers));
            (preset.name(), transfer)
        });
        Setting {
            about: format!("{} · {shape:?} · {} ranks", self.source.name(), world.size()),
            size: std::array::from_fn(|axis| (shape[axis] - 1) as f64 * grid.spacing[axis]),
            bounds: grid.bounds(shape),
            voxel: grid.spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length)),
            look,
            background: self.setup.background(),
            values: values.opacity().clone(),
            isosurface: None,
            presets: std::iter::once(given).chain(shelf).collect(),
        }
    }

    /// Renders every frame and writes it.
    fn frames(
        &self,
        world: &World,
        mut draw: impl FnMut(&Look) -> Result<Frame>,
        mut look: Look,
        clock: &mut Clock,
    ) -> Result<Frames> {
        let options = self.options;
        let cameras = match &options.movie.movie {
            Some(path) => {
                let cameras = path.cameras(&look.camera, &self.setup.stand, options.movie.frames);
                let cameras = world.agree("reading the camera's path", cameras.map_err(Into::into))?;
                clock.frames(options.movie.frames);
                cameras
            }
            None => vec![look.camera.clone()],
        };
        for _ in 1..options.check.repeat {
            clock.skip();
            draw(&look)?;
            clock.rehearsal();
        }
        let output = options.output();
        let (rate, mine) = (options.movie.fps.unwrap_or(24.0), world.rank() == 0);
        let sink = match self.write {
            true if mine => Sink::open(&output, self.setup.style, cameras.len() as u32, rate).map(Some),
            true if world.group().kind() == TransportKind::Mpi => sink::stay_for_others().map(|()| None),
            _ => Ok(None),
        };
        let mut sink = world.agree("making the picture's file", sink)?;
        let mut frames = Frames { count: cameras.len() as u32, ..Frames::default() };
        for camera in cameras {
            look.camera = camera;
            clock.skip();
            let frame = draw(&look)?;
            clock.frame(&frame);
            frames.add(&frame);
            let written = match (&mut sink, &frame.image) {
                (Some(sink), Some(image)) => sink.write(image),
                _ => Ok(()),
            };
            world.agree("writing the picture", written.map_err(Into::into))?;
            clock.more(Phase::Write);
            frames.last = frame.image;
        }
        let finished = sink.map_or(Ok(()), Sink::finish);
        world.agree("writing the picture", finished.map_err(Into::into))?;
        clock.end(Phase::Write);
        Ok(frames)
    }
}

/// What became of the frames on this rank.
#[derive(Default)]
struct Frames {
    count: u32,
    layers: usize,
    cells: u64,
    moved: Moved,
    /// Whether anything is to be seen in any frame; on the rank that has them.
    seen: bool,
    last: Option<Image>,
}

impl Frames {
    fn add(&mut self, frame: &Frame) {
        (self.layers, self.cells) = (frame.layers, frame.cells);
        self.seen |= frame.image.iter().flat_map(|image| &image.pixels).any(|pixel| pixel[3] > 0.0);
        self.moved.bytes_local += frame.moved.bytes_local;
        self.moved.bytes_network += frame.moved.bytes_network;
        self.moved.messages += frame.moved.messages;
        self.moved.rounds = frame.moved.rounds;
    }
}

/// A box whose edges on the first axis are counted in other units.
fn scaled(mut region: Region, unit: impl Fn(i64) -> i64) -> Region {
    (region.start[0], region.end[0]) = (unit(region.start[0]), unit(region.end[0]));
    region
}
