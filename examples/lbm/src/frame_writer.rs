//! `--render`: writes pictures of a running flow into a file.

use std::path::{Path, PathBuf};
use std::time::Instant;

use zippy::{Error, Result, World};
use zippy_io::apng::Movie;
use zippy_io::png::{self, Behind, Depth, Style};
use zippy_lbm::cases::Case;
use zippy_lbm::{Fields, Flow};

use crate::flow_renderer::{ArrayNames, FlowRenderer};
use crate::options::Options;
use crate::scene::{Scene, ShownQuantity};

const ARRAY_NAMES: ArrayNames =
    ArrayNames { values: "values", colours: "colours", surface: "surface", bodies: "bodies" };

/// Frames per second of a movie.
const FRAMES_PER_SECOND: f64 = 15.0;

/// Renders frames of a run and writes them.
pub(crate) struct FrameWriter<'w> {
    world: &'w World,
    renderer: FlowRenderer<'w>,
    scene: Scene,
    output: Output,
    frames: u64,
    secs: f64,
}

/// Number and time of the frames of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DrawingTime {
    pub frames: u64,
    pub secs: f64,
}

/// Output file, on rank 0 only.
enum Output {
    /// No output: this rank writes nothing.
    None,
    /// A picture of the last frame.
    Still(PathBuf),
    Movie(MovieFile),
}

/// A movie that keeps its finished frames when a run ends early or fails.
struct MovieFile {
    movie: Option<Movie>,
    remaining: u32,
    has_frames: bool,
}

impl MovieFile {
    fn close(&mut self) -> Result<(), zippy_io::IoError> {
        match self.movie.take() {
            Some(movie) if self.remaining == 0 => movie.finish(),
            Some(movie) if self.has_frames => movie.stop(),
            _ => Ok(()),
        }
    }
}

impl Drop for MovieFile {
    fn drop(&mut self) {
        // The error that ended the run is already reported.
        let _ = self.close();
    }
}

impl<'w> FrameWriter<'w> {
    /// Opens the output for `frames` frames of a flow. Collective.
    pub(crate) fn new(
        world: &'w World,
        options: &Options,
        quantity: ShownQuantity,
        case: &Case,
        flow: &Flow<'_>,
        frames: u64,
    ) -> Result<Self> {
        let scene = options.pictures.scene(options.size, case, flow, quantity);
        let renderer = FlowRenderer::new(world, ARRAY_NAMES, flow)?;
        let path = options.output.as_deref().unwrap_or(Path::new("flow.apng"));
        let check_existing_movie = || -> Result<()> {
            let is_movie = path.extension().is_some_and(|ending| ending == "apng");
            if world.rank() == 0 && flow.steps() > 0 && is_movie && path.exists() {
                return Err(Error::program(format!(
                    "{} has the movie up to this step; give another --output to continue",
                    path.display()
                )));
            }
            Ok(())
        };
        world.agree("creating the picture file", check_existing_movie())?;
        let output = match (world.rank(), path.extension().and_then(|ending| ending.to_str())) {
            (0, Some("apng")) => {
                let frames = frames.min(i32::MAX as u64) as u32;
                let movie = Movie::create(path, frames, FRAMES_PER_SECOND, png_style());
                movie.map(|movie| Output::Movie(MovieFile { movie: Some(movie), remaining: frames, has_frames: false }))
            }
            (0, _) => Ok(Output::Still(path.to_owned())),
            _ => Ok(Output::None),
        };
        let output = world.agree("creating the picture file", output.map_err(Into::into))?;
        Ok(Self { world, renderer, scene, output, frames: 0, secs: 0.0 })
    }

    /// Renders and writes the current flow. Collective.
    pub(crate) fn write(&mut self, flow: &mut Flow<'_>, fields: &Fields) -> Result<()> {
        let start = Instant::now();
        let image = self.renderer.draw(flow, fields, &self.scene, true)?;
        let written = match (&mut self.output, image) {
            (Output::Movie(MovieFile { movie: Some(movie), remaining, has_frames }), Some(image)) => {
                (*remaining, *has_frames) = (remaining.saturating_sub(1), true);
                movie.write(&image)
            }
            (Output::Still(path), Some(image)) => png::write(path, &image, png_style()),
            _ => Ok(()),
        };
        self.world.agree("writing a picture of the flow", written.map_err(Into::into))?;
        self.frames += 1;
        self.secs += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Closes the file, also if the run has ended early. Collective.
    pub(crate) fn finish(mut self) -> Result<DrawingTime> {
        let finished = if let Output::Movie(movie) = &mut self.output { movie.close() } else { Ok(()) };
        self.world.agree("closing the movie of the flow", finished.map_err(Into::into))?;
        Ok(DrawingTime { frames: self.frames, secs: self.secs })
    }
}

fn png_style() -> Style {
    Style { depth: Depth::Eight, behind: Behind::Colour([0.0; 3]) }
}
