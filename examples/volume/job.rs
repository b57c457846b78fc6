//! The program of every rank: read, exchange ghost cells, render, write.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use zippy::algorithms::image::Image;
use zippy::algorithms::reduce::Bins;
use zippy::algorithms::volume::{self, Distribution, Preset, RendererOptions, TransferFunction, VolumeRenderer};
use zippy::error::{Error, IoError};
use zippy::io::png::{self, Behind, Style};
use zippy::io::volume::ScalarKind;
use zippy::{Element, GlobalArray, Result, World};

use crate::cut::Cut;
use crate::look::{self, Look};
use crate::options::Options;
use crate::report::{Measured, Phase, Report, Voxels};
use crate::source::{self, FAR, Reader, Source};
use crate::view::{self, Link, Setting};

/// Partial pictures of all chunks together may need so much.
const MOST_PICTURE_BYTES: u64 = 16 << 30;

/// One rendering of the volume that the options name.
pub struct Job<'a> {
    pub options: &'a Options,
    pub cut: Cut,
    /// Whether the picture is written.
    pub write: bool,
    /// The window that shows the volume, instead of one picture that is written.
    pub link: Option<&'a Arc<Link>>,
    /// When the ranks were started.
    pub started: Instant,
}

/// What rank 0 has in the end.
pub struct Rendered {
    pub image: Image,
    pub report: Report,
}

/// A voxel of the volume on the device.
trait Value: Element {
    fn number(self) -> f64;

    /// How many voxels have values in each of `count` even parts of a range. Collective.
    fn counts(world: &World, volume: &GlobalArray<Self, 3>, range: (f64, f64), count: usize) -> Result<Vec<u64>>;
}

macro_rules! values {
    ($($type:ty),*) => { $(impl Value for $type {
        fn number(self) -> f64 {
            self.into()
        }

        fn counts(world: &World, volume: &GlobalArray<Self, 3>, (low, high): (f64, f64), count: usize) -> Result<Vec<u64>> {
            let bins = Bins::even(low as $type, high as $type, count)?;
            Ok(world.histogram(volume.at((.., .., ..)), &bins)?.counts)
        }
    })* };
}
values!(u8, i8, u16, i16, u32, i32, f32);

impl Job<'_> {
    /// Runs on every rank; rank 0 gets the picture. Collective.
    ///
    /// # Errors
    /// Whatever is wrong with the options or the files, the same on every rank; a failure of this or of another rank.
    pub fn run(&self, world: &World) -> Result<Option<Rendered>> {
        if let Some(link) = self.link {
            link.started(world);
        }
        let mut clock = Clock::new(self, world);
        let opened = Source::open(self.options).map_err(Error::from).and_then(|source| {
            if world.rank() == 0 {
                self.check_output()?;
            }
            let look = Look::new(self.options, source.shape(), source.spacing())?;
            Ok((source, look))
        });
        let (source, look) = world.agree("opening the volume", opened)?;
        clock.end(Phase::Open);
        let scene = Scene { job: self, source: &source, look: &look };
        match &source {
            Source::Phantom(phantom) => {
                scene.render::<u16>(world, clock, &|boxes, done| source::computed(phantom, boxes, done))
            }
            Source::File(file) => match file.kind() {
                ScalarKind::U8 => scene.render::<u8>(world, clock, &|boxes, done| source::plain(file, boxes, done)),
                ScalarKind::I8 => scene.render::<i8>(world, clock, &|boxes, done| source::plain(file, boxes, done)),
                ScalarKind::U16 => scene.render::<u16>(world, clock, &|boxes, done| source::plain(file, boxes, done)),
                ScalarKind::I16 => scene.render::<i16>(world, clock, &|boxes, done| source::plain(file, boxes, done)),
                ScalarKind::U32 => scene.render::<u32>(world, clock, &|boxes, done| source::plain(file, boxes, done)),
                ScalarKind::I32 => scene.render::<i32>(world, clock, &|boxes, done| source::plain(file, boxes, done)),
                ScalarKind::F32 | ScalarKind::F64 | ScalarKind::I64 | ScalarKind::U64 => {
                    scene.render::<f32>(world, clock, &|boxes, done| source::floats(file, boxes, done))
                }
            },
        }
    }

    /// Finds a mistake in the name of the picture before the work is done.
    fn check_output(&self) -> Result<()> {
        let path = &self.options.output;
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !self.write || (directory.is_dir() && !path.is_dir() && path.file_name().is_some()) {
            return Ok(());
        }
        let message = if path.is_dir() { "is a directory, not a picture" } else { "its directory does not exist" };
        Err(IoError::request(path, message).into())
    }
}

/// A volume and how it is looked at.
struct Scene<'a> {
    job: &'a Job<'a>,
    source: &'a Source,
    look: &'a Look,
}

impl Scene<'_> {
    fn render<T: Value>(&self, world: &World, mut clock: Clock, read: Reader<T>) -> Result<Option<Rendered>> {
        let (shape, spacing) = (self.source.shape(), self.source.spacing());
        let limit = world.gpu().limits().buffer_bytes;
        let layout = self.job.cut.layout(shape, world.size(), T::INFO.bytes, limit)?;
        let chunks = layout.resolve(world.size(), T::INFO.bytes, limit)?;
        self.check_pictures(chunks.count(), limit)?;
        let volume = world.array::<T, 3>("volume", &layout)?;
        let range = self.fill(world, &volume, read)?;
        clock.end(Phase::Read);
        let ghosts = world.ghosts(&volume)?;
        clock.end(Phase::Ghosts);
        let transfer = match (&self.look.transfer, self.source) {
            (Some(transfer), _) => transfer.clone(),
            (None, Source::Phantom(_)) => look::phantom(shape),
            (None, Source::File(_)) => look::ramp(range, shape, spacing),
        };
        if let Some(link) = self.job.link {
            let setting = self.setting(world, &volume, transfer, range)?;
            drop(clock);
            return view::show(world, link, &volume, spacing, setting).map(|()| None);
        }
        let renderer = VolumeRenderer::new(world, &volume, spacing, RendererOptions::default())?;
        clock.end(Phase::Prepare);
        let (step, size) = (self.look.step, self.look.size);
        let look = volume::Look { step, size, ..volume::Look::new(self.look.camera.clone(), transfer) };
        let mut frame = renderer.render(&look)?;
        for _ in 1..self.job.options.repeat {
            frame = renderer.render(&look)?;
        }
        clock.set(Phase::Cast, frame.cast_secs);
        clock.set(Phase::Composite, frame.composite_secs);
        clock.set(Phase::Fetch, frame.read_secs);
        clock.again();
        if self.job.write {
            let written = frame.image.as_ref().map_or(Ok(()), |image| self.write(image));
            world.agree("writing the picture", written)?;
            clock.end(Phase::Write);
        }
        let measured = Measured { secs: clock.finish(), ghosts, composite: frame.moved };
        let measured = measured.over_ranks(world)?;
        let voxels = Voxels { name: self.source.name(), kind: self.source.kind(), shape, spacing, range };
        let report = Report::new(world, volume.core().chunks(), voxels, measured);
        Ok(frame.image.map(|image| Rendered { image, report }))
    }

    /// What a window has to know. Collective.
    fn setting<T: Value>(
        &self,
        world: &World,
        volume: &GlobalArray<T, 3>,
        transfer: TransferFunction,
        range: (f64, f64),
    ) -> Result<Setting> {
        let (shape, spacing) = (self.source.shape(), self.source.spacing());
        let voxel = spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length));
        let all = shape.iter().product::<i64>() as u64;
        let counts = if range.0 < range.1 { T::counts(world, volume, range, 256)? } else { vec![all] };
        let values = Distribution { min: range.0, max: range.1, counts };
        let presets = Preset::ALL.map(|preset| (preset.name(), preset.transfer(&values, voxel)));
        Ok(Setting {
            about: format!("{} · {shape:?} · {} ranks", self.source.name(), world.size()),
            size: std::array::from_fn(|axis| (shape[axis] - 1) as f64 * spacing[axis]),
            voxel,
            look: zippy::algorithms::volume::Look {
                step: self.look.step,
                ..zippy::algorithms::volume::Look::new(self.look.camera.clone(), transfer.clone())
            },
            background: self.look.background,
            values,
            presets: [("as given", transfer)].into_iter().chain(presets).collect(),
        })
    }

    /// Reads or computes the voxels of this rank's chunks; the smallest and the largest finite value of all ranks.
    fn fill<T: Value>(&self, world: &World, volume: &GlobalArray<T, 3>, read: Reader<T>) -> Result<(f64, f64)> {
        let mut range = [f64::INFINITY, f64::NEG_INFINITY];
        let chunks: Vec<_> = volume.chunks().collect();
        let boxes: Vec<_> = chunks.iter().map(|chunk| chunk.region()).collect();
        let filled = read(&boxes, &mut |number, values| {
            for value in values.iter().map(|value| value.number()).filter(|value| value.abs() < f64::from(FAR)) {
                range = [range[0].min(value), range[1].max(value)];
            }
            chunks[number].all().write(&values)
        });
        world.agree("reading the volume", filled)?;
        let mut ends = [range[0], -range[1]];
        world.group().all_reduce(&mut ends, |a, b| *a = a.min(*b))?;
        // A volume without a finite value has an empty picture, whatever its range is said to be.
        Ok(if ends[0] <= -ends[1] { (ends[0], -ends[1]) } else { (0.0, 1.0) })
    }

    /// Refuses pictures that no machine has the memory for, before the volume is read.
    fn check_pictures(&self, chunks: usize, buffer_bytes: u64) -> Result<()> {
        let (width, height) = self.look.size;
        let one = u64::from(width) * u64::from(height) * 16;
        let all = one * chunks as u64;
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let most = MOST_PICTURE_BYTES >> 20;
        let wrong = if one > buffer_bytes {
            format!("each takes {} MiB, but a buffer of this device holds {}", mib(one), buffer_bytes >> 20)
        } else if all > MOST_PICTURE_BYTES {
            format!("together they take {} MiB, more than {most}", mib(all))
        } else {
            return Ok(());
        };
        Err(Error::program(format!(
            "{chunks} chunks have a partial picture of {width}x{height} pixels each: {wrong}; ask for a smaller picture or \
             for fewer chunks"
        )))
    }

    fn write(&self, image: &Image) -> Result<()> {
        let style = Style { behind: Behind::Colour(self.look.background), ..Style::default() };
        Ok(png::write(&self.job.options.output, image, style)?)
    }
}

/// Measures the phases of this rank, and shows them on a terminal.
struct Clock {
    since: Instant,
    secs: [f64; Phase::COUNT],
    bar: ProgressBar,
}

impl Clock {
    fn new(job: &Job, world: &World) -> Self {
        let bar = if world.rank() == 0 { ProgressBar::new(Phase::COUNT as u64) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{elapsed:>4} [{bar:30}] {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        let mut clock = Self { since: job.started, secs: [0.0; Phase::COUNT], bar };
        clock.end(Phase::Start);
        clock
    }

    /// The time since the last end belongs to this phase.
    fn end(&mut self, phase: Phase) {
        let now = Instant::now();
        self.set(phase, (now - self.since).as_secs_f64());
        self.since = now;
    }

    fn set(&mut self, phase: Phase, secs: f64) {
        self.secs[phase as usize] = secs;
        self.bar.set_position(phase as u64 + 1);
        self.bar.set_message(phase.next());
    }

    /// The time since the last end belongs to no phase: it was measured elsewhere.
    fn again(&mut self) {
        self.since = Instant::now();
    }

    fn finish(self) -> [f64; Phase::COUNT] {
        self.bar.finish_and_clear();
        self.secs
    }
}
