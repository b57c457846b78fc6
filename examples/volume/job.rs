//! The program of every rank: read, cut into bricks, render, write.

use std::sync::Arc;
use std::time::Instant;

use zippy::algorithms::image::Image;
use zippy::error::Error;
use zippy::io::volume::ScalarKind;
use zippy::{Result, World};

use super::clock::Clock;
use super::cut::Decomposition;
use super::look::Setup;
use super::options::Options;
use super::report::{Phase, Report};
use super::scene::Scene;
use super::source::{self, Source};
use super::view::Link;

/// One rendering of the volume that the options name.
pub struct Job<'a> {
    pub options: &'a Options,
    pub spread: Decomposition,
    /// Whether pictures are written.
    pub write: bool,
    /// The window that shows the volume, instead of pictures that are written.
    pub link: Option<&'a Arc<Link>>,
    /// When the ranks were started.
    pub started: Instant,
}

/// What rank 0 has in the end.
pub struct Rendered {
    /// The last picture.
    pub image: Image,
    /// The colour behind it.
    pub background: [f32; 3],
    pub report: Report,
}

impl Job<'_> {
    /// Runs on every rank; rank 0 gets the picture. Collective.
    ///
    /// # Errors
    /// Whatever is wrong with the options or the files, the same on every rank; a failure of this or of another rank.
    pub fn run(&self, world: &World) -> Result<Option<Rendered>> {
        if let Some(link) = self.link {
            link.started(world);
        }
        let mut clock = Clock::new(self.started, world.rank() == 0);
        let opened = Source::open(&self.options.volume).map_err(Error::from).and_then(|source| {
            let (idle, ranks) = (self.spread.idle, world.size());
            if idle >= ranks {
                return Err(Error::program(format!(
                    "{idle} of {ranks} ranks idle: at least one has to have the volume"
                )));
            }
            if self.write && self.link.is_none() && world.rank() == 0 {
                self.options.output().check()?;
            }
            let setup = Setup::new(self.options, source.shape(), source.spacing(), source.colours())?;
            Ok((source, setup))
        });
        let (source, setup) = world.agree("opening the volume", opened)?;
        clock.end(Phase::Open);
        let scene = Scene { job: self, source: &source, setup: &setup };
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
}
