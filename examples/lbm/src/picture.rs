//! `--render`: pictures of a flow while it runs. A volume is drawn where its chunks are; of a plane the pixels are fetched.

use std::path::Path;
use std::time::Instant;

use zippy::{GlobalArray, Result, World};
use zippy_io::apng::Movie;
use zippy_io::image::Image;
use zippy_io::png::{self, Behind, Depth, Style};
use zippy_lbm::cases::Case;
use zippy_lbm::{Fields, Flow, Quantity};
use zippy_render::volume::{Camera, Look, RendererOptions, TransferFunction, VolumeRenderer};

use crate::options::{Options, Shown};

/// From dark blue over green to yellow, as bright as the value is large.
const SCALE: [[f64; 3]; 5] =
    [[0.267, 0.005, 0.329], [0.230, 0.322, 0.546], [0.128, 0.567, 0.551], [0.369, 0.789, 0.383], [0.993, 0.906, 0.144]];

/// Frames a second of a movie.
const PER_SECOND: f64 = 15.0;

/// Draws frames of a run, one after the other.
pub struct Painter<'w> {
    world: &'w World,
    shown: Shown,
    values: GlobalArray<f32, 3>,
    /// Values from no colour to the last one.
    range: [f64; 2],
    way: Way<'w>,
    output: Output,
    /// Frames, those announced, and the seconds that they have taken.
    frames: [u64; 2],
    secs: f64,
}

enum Way<'w> {
    Volume(Box<(VolumeRenderer<'w, f32>, Look)>),
    Plane,
}

/// Where frames go; on rank 0 only.
enum Output {
    Nowhere,
    /// The last frame.
    Still(std::path::PathBuf),
    Movie(Box<Movie>),
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
        let values = flow.quantity_array("shown")?;
        let (u, turn) = (case.speed, case.speed / case.length);
        let range = match shown {
            Shown::Speed => [0.0, 1.5 * u],
            Shown::Vorticity => [0.0, 6.0 * turn],
            Shown::Q => [0.0, 4.0 * turn * turn],
            Shown::Density => [-1.5 * u * u, 1.5 * u * u],
        };
        let way = match flow.problem().velocities().axes() {
            2 => Way::Plane,
            _ => {
                let transfer = transfer(range, case.length);
                let look =
                    Look { size: options.size, ..Look::new(Camera::overview(values.shape(), [1.0; 3]), transfer) };
                let renderer = VolumeRenderer::new(world, &values, [1.0; 3], RendererOptions::default())?;
                Way::Volume(Box::new((renderer, look)))
            }
        };
        let path = options.output.as_deref().unwrap_or(Path::new("flow.apng"));
        let output = match (world.rank(), path.extension().and_then(|ending| ending.to_str())) {
            (0, Some("apng")) => {
                let movie = Movie::create(path, frames.min(u64::from(u32::MAX)) as u32, PER_SECOND, style());
                movie.map(|movie| Output::Movie(Box::new(movie)))
            }
            (0, _) => Ok(Output::Still(path.to_owned())),
            _ => Ok(Output::Nowhere),
        };
        let output = world.agree("making the file of pictures", output.map_err(Into::into))?;
        Ok(Self { world, shown, values, range, way, output, frames: [0, frames], secs: 0.0 })
    }

    /// Draws the flow as it is. Collective.
    pub fn paint(&mut self, flow: &mut Flow, fields: &Fields) -> Result<()> {
        let start = Instant::now();
        let density = match self.shown {
            Shown::Speed => flow.quantity_into(Quantity::Speed, fields, &self.values).map(|()| false),
            Shown::Vorticity => flow.quantity_into(Quantity::Vorticity, fields, &self.values).map(|()| false),
            Shown::Q => flow.quantity_into(Quantity::QCriterion, fields, &self.values).map(|()| false),
            Shown::Density => flow.fields_into(fields).map(|()| true),
        }?;
        if density {
            self.world.copy(fields.excess.at(..), self.values.at(..))?;
        }
        let image = match &self.way {
            Way::Volume(drawn) => {
                let (renderer, look) = &**drawn;
                renderer.refresh()?;
                renderer.render(look)?.image
            }
            Way::Plane => self.plane(flow)?,
        };
        let written = match (&mut self.output, image) {
            (Output::Movie(movie), Some(image)) => movie.write(&image),
            (Output::Still(path), Some(image)) => png::write(path, &image, style()),
            _ => Ok(()),
        };
        self.world.agree("writing a picture of the flow", written.map_err(Into::into))?;
        self.frames[0] += 1;
        self.secs += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Ends the file, also where the run has ended early; frames, and the seconds that they took. Collective.
    pub fn finish(self) -> Result<(u64, f64)> {
        let finished = match self.output {
            Output::Movie(movie) if self.frames[0] < self.frames[1] => movie.stop(),
            Output::Movie(movie) => movie.finish(),
            _ => Ok(()),
        };
        self.world.agree("ending the movie of the flow", finished.map_err(Into::into))?;
        Ok((self.frames[0], self.secs))
    }

    /// A pixel a cell; on rank 0.
    fn plane(&self, flow: &Flow) -> Result<Option<Image>> {
        let [x, y, _] = flow.inside();
        let wanted = (self.world.rank() == 0).then(|| self.world.get(self.values.at((x.clone(), y.clone(), 0))));
        let wanted = wanted.transpose()?;
        let mut fetched = self.world.fence()?;
        let Some(wanted) = wanted else { return Ok(None) };
        let values = fetched.redeem(wanted)?;
        let (width, height) = ((x.end - x.start) as usize, (y.end - y.start) as usize);
        let mut image = Image::new(width, height);
        for (row, pixels) in image.pixels.chunks_mut(width).enumerate() {
            let values = &values[(height - 1 - row) * width..];
            for (pixel, &value) in pixels.iter_mut().zip(values) {
                let [red, green, blue] = colour(self.range, f64::from(value)).map(|x| x as f32);
                *pixel = [red, green, blue, 1.0];
            }
        }
        Ok(Some(image))
    }
}

fn style() -> Style {
    Style { depth: Depth::Eight, behind: Behind::Colour([0.0; 3]) }
}

/// Colours between those of the scale.
fn colour([low, high]: [f64; 2], value: f64) -> [f64; 3] {
    let last = SCALE.len() - 1;
    let at = ((value - low) / (high - low)).clamp(0.0, 1.0) * last as f64;
    let first = (at as usize).min(last - 1);
    let share = at - first as f64;
    std::array::from_fn(|k| SCALE[first][k] * (1.0 - share) + SCALE[first + 1][k] * share)
}

/// Nothing where the value is low; what is high shows through a length of the case.
fn transfer([low, high]: [f64; 2], length: f64) -> TransferFunction {
    let at = |share: f64| low + (high - low) * share;
    let last = (SCALE.len() - 1) as f64;
    let colour = SCALE.iter().enumerate().map(|(k, [red, green, blue])| [at(k as f64 / last), *red, *green, *blue]);
    TransferFunction {
        opacity: vec![[at(0.1), 0.0], [at(0.5), 0.25], [at(1.0), 0.8]],
        colour: colour.collect(),
        unit_distance: length / 4.0,
    }
}
