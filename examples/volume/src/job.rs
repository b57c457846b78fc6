//! The work of a rank: read, cut into bricks, render, write.

use std::sync::Arc;
use std::time::Instant;

use half::f16;
use zippy::error::Error;
use zippy::{Result, World};
use zippy_io::png;
use zippy_io::volume::ScalarKind;

use super::clock::PhaseClock;
use super::cut::Decomposition;
use super::options::Options;
use super::phase::Phase;
use super::picture_setup::PictureSetup;
use super::scene::{Rendered, Scene};
use super::source::{self, Source, read_as_f32, read_in_file_type};
use super::view::Link;

/// One rendering of a volume.
pub struct Job<'a> {
    pub options: &'a Options,
    pub decomposition: Decomposition,
    /// True if pictures are written to files.
    pub write: bool,
    /// Link to the window of `--view`, which replaces picture files.
    pub link: Option<&'a Arc<Link>>,
    /// Start time of the ranks.
    pub started: Instant,
}

impl Job<'_> {
    /// Runs the job. Returns the picture on rank 0. Collective.
    ///
    /// # Errors
    /// Options or files with a mistake (the same error on every rank); a failure of any rank.
    pub fn run(&self, world: &World) -> Result<Option<Rendered>> {
        if let Some(link) = self.link {
            link.started(world);
        }
        let mut clock = PhaseClock::new(self.started, world.rank() == 0);
        let opened = Source::open(&self.options.volume).map_err(Error::from).and_then(|source| {
            let (idle, ranks) = (self.decomposition.idle, world.size());
            if idle >= ranks {
                return Err(Error::program(format!(
                    "--idle-ranks {idle} of {ranks} ranks: at least one rank must own a part of the volume"
                )));
            }
            let writes = self.write && self.link.is_none();
            if writes {
                self.options.output().check()?;
            }
            if self.options.isosurface.iso.is_some() && source.components() != 1 {
                let text = format!(
                    "--iso: an isosurface needs one number in each voxel; this volume has {}",
                    source.components()
                );
                return Err(Error::program(text));
            }
            let setup = PictureSetup::new(self.options, source.shape(), source.grid(), source.colours())?;
            let renderer = self.options.renderer(source.components());
            renderer.check(source.shape())?;
            renderer.check_size(world, setup.size())?;
            if writes
                && world.rank() == 0
                && let Some(path) = &self.options.check.reference
            {
                let (width, height) = setup.size();
                png::read(path, Some((width as usize, height as usize)))?;
            }
            Ok((source, setup))
        });
        let (source, setup) = world.agree("opening the volume", opened)?;
        clock.end(Phase::Open);
        let &Self { options, ref decomposition, write, link, .. } = self;
        let scene = Scene { options, decomposition, write, link, source: &source, setup: &setup };
        match &source {
            Source::Phantom(phantom) => {
                scene.render::<u16>(world, clock, &|_, boxes, done| source::compute_phantom(phantom, boxes, done))
            }
            Source::File(file) => {
                macro_rules! render {
                    ($reader:expr) => {
                        scene.render(world, clock, &|units, boxes, done| $reader(file, units, boxes, done))
                    };
                }
                match file.kind() {
                    ScalarKind::U8 => render!(read_in_file_type::<u8>),
                    ScalarKind::I8 => render!(read_in_file_type::<i8>),
                    ScalarKind::U16 => render!(read_in_file_type::<u16>),
                    ScalarKind::I16 => render!(read_in_file_type::<i16>),
                    ScalarKind::U32 => render!(read_in_file_type::<u32>),
                    ScalarKind::I32 => render!(read_in_file_type::<i32>),
                    ScalarKind::U64 => render!(read_as_f32::<u64>),
                    ScalarKind::I64 => render!(read_as_f32::<i64>),
                    ScalarKind::F16 => render!(read_as_f32::<f16>),
                    ScalarKind::F32 => render!(read_as_f32::<f32>),
                    ScalarKind::F64 => render!(read_as_f32::<f64>),
                }
            }
        }
    }
}
