//! `--render`: pictures of a flow while it runs, into a file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use zippy::{Error, Result, World};
use zippy_io::apng::Movie;
use zippy_io::png::{self, Behind, Depth, Style};
use zippy_lbm::cases::Case;
use zippy_lbm::{Fields, Flow};

use crate::drawing::Pictures;
use crate::options::Options;
use crate::scene::{Scene, Shown};

/// Frames a second of a movie.
const PER_SECOND: f64 = 15.0;

/// Draws frames of a run, one after the other.
pub struct Painter<'w> {
    world: &'w World,
    pictures: Pictures<'w>,
    scene: Scene,
    output: Output,
    frames: u64,
    secs: f64,
}

/// Where frames go; on rank 0 only.
enum Output {
    Nowhere,
    /// The last frame.
    Still(PathBuf),
    Movie(Reel),
}

/// A movie that keeps the frames that it has where a run ends early, also where it fails.
struct Reel {
    movie: Option<Movie>,
    left: u32,
    begun: bool,
}

impl Reel {
    fn end(&mut self) -> Result<(), zippy_io::IoError> {
        match self.movie.take() {
            Some(movie) if self.left == 0 => movie.finish(),
            Some(movie) if self.begun => movie.stop(),
            _ => Ok(()),
        }
    }
}

impl Drop for Reel {
    fn drop(&mut self) {
        // What has ended the run is said already.
        let _ = self.end();
    }
}

impl<'w> Painter<'w> {
    /// For so many frames of a flow. Collective.
    pub fn new(
        world: &'w World,
        options: &Options,
        shown: Shown,
        case: &Case,
        flow: &Flow,
        frames: u64,
    ) -> Result<Self> {
        let scene = options.showing.scene(options.size, case, flow, shown);
        let pictures = Pictures::new(world, ["shown", "shown beside", "surface", "bodies"], flow)?;
        let path = options.output.as_deref().unwrap_or(Path::new("flow.apng"));
        let goes_on = || -> Result<()> {
            match world.rank() == 0 && flow.steps() > 0 && path.extension().is_some_and(|end| end == "apng") {
                true if path.exists() => Err(Error::program(format!(
                    "{} has the movie until here; give another --output to go on",
                    path.display()
                ))),
                _ => Ok(()),
            }
        };
        world.agree("making the file of pictures", goes_on())?;
        let output = match (world.rank(), path.extension().and_then(|ending| ending.to_str())) {
            (0, Some("apng")) => {
                let frames = frames.min(i32::MAX as u64) as u32;
                let movie = Movie::create(path, frames, PER_SECOND, style());
                movie.map(|movie| Output::Movie(Reel { movie: Some(movie), left: frames, begun: false }))
            }
            (0, _) => Ok(Output::Still(path.to_owned())),
            _ => Ok(Output::Nowhere),
        };
        let output = world.agree("making the file of pictures", output.map_err(Into::into))?;
        Ok(Self { world, pictures, scene, output, frames: 0, secs: 0.0 })
    }

    /// Draws the flow as it is. Collective.
    pub fn paint(&mut self, flow: &mut Flow, fields: &Fields) -> Result<()> {
        let start = Instant::now();
        let image = self.pictures.draw(flow, fields, &self.scene, true)?;
        let written = match (&mut self.output, image) {
            (Output::Movie(Reel { movie: Some(movie), left, begun }), Some(image)) => {
                (*left, *begun) = (left.saturating_sub(1), true);
                movie.write(&image)
            }
            (Output::Still(path), Some(image)) => png::write(path, &image, style()),
            _ => Ok(()),
        };
        self.world.agree("writing a picture of the flow", written.map_err(Into::into))?;
        self.frames += 1;
        self.secs += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Ends the file, also where the run has ended early; frames, and the seconds that they took. Collective.
    pub fn finish(mut self) -> Result<(u64, f64)> {
        let finished = if let Output::Movie(reel) = &mut self.output { reel.end() } else { Ok(()) };
        self.world.agree("ending the movie of the flow", finished.map_err(Into::into))?;
        Ok((self.frames, self.secs))
    }
}

fn style() -> Style {
    Style { depth: Depth::Eight, behind: Behind::Colour([0.0; 3]) }
}
