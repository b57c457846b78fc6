//! Requests of the window on the ranks, processed between steps.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use zippy::algorithms::reduce::Bins;
use zippy::{Error, Result, World};
use zippy_lbm::cases::Case;
use zippy_lbm::{Fields, Flow};
use zippy_render::volume::Distribution;
use zippy_view::live::{FinishedPicture, Next, Request, command_of_rank_0};
use zippy_view::{FramePacing, colour_image};

use super::Link;
use super::viewer::{FlowEvent, FlowSettings, Progress, ViewerSetup};
use crate::end_conditions::{End, EndWatcher};
use crate::flow_renderer::{ArrayNames, FlowRenderer};
use crate::options::Options;
use crate::run_state::RunState;
use crate::say::complain;
use crate::scene::{Scene, ShownQuantity};

/// Interval of the distribution of values while the flow runs.
const DISTRIBUTION_INTERVAL: Duration = Duration::from_secs(1);
const DISTRIBUTION_BINS: usize = 128;
const ARRAY_NAMES: ArrayNames = ArrayNames {
    values: "window values",
    colours: "window colours",
    surface: "window surface",
    bodies: "window bodies",
};
/// Minimum side of a picture at low resolution, relative to full resolution.
const MIN_SCALE: f64 = 0.4;

/// Command that rank 0 broadcasts to all ranks.
#[derive(Serialize, Deserialize)]
struct Command {
    scene: Scene,
    speed: f64,
    /// True if the distribution of values is computed.
    with_distribution: bool,
    /// Steps until the next command.
    steps: u64,
}

/// Window of a flow, on the side of the ranks.
pub(crate) struct Window<'w> {
    link: Arc<Link>,
    renderer: FlowRenderer<'w>,
    /// Case at the start of the run.
    case: Case,
    speed: f64,
    /// Step and scene of the last picture.
    drawn: Option<(u64, Scene)>,
    rank_0: Rank0State,
}

/// State on rank 0 only.
#[derive(Default)]
struct Rank0State {
    request: Option<Request<FlowSettings>>,
    /// Numbers of single steps and of distributions that were requested and done.
    single_steps: u64,
    distributions: u64,
    last_distribution: Option<(Instant, ShownQuantity)>,
    pace: FramePacing,
    /// True if rank 0 waits for the next request.
    is_idle: bool,
    /// Time and step at the last command to run.
    run_start: Option<(Instant, u64)>,
}

impl<'w> Window<'w> {
    /// Sends the initial state to the window. Collective.
    pub(crate) fn open(
        world: &'w World,
        link: &Arc<Link>,
        options: &Options,
        case: &Case,
        flow: &Flow<'_>,
    ) -> Result<Self> {
        // Square, so that a window that is wider than high shows the whole box.
        let scene = options.pictures.scene((720, 720), case, flow, options.render.unwrap_or(ShownQuantity::Vorticity));
        let cells = flow.box_ranges().map(|axis| axis.end - axis.start);
        let axes = flow.problem().velocity_set().axes();
        world.agree("opening a window", scene.check(cells, axes))?;
        let renderer = FlowRenderer::new(world, ARRAY_NAMES, flow)?;
        let [x, y, z] = cells;
        let mut ranges = ShownQuantity::ALL.map(|quantity| quantity.range(case));
        ranges[scene.quantity as usize] = scene.range;
        let setup = ViewerSetup {
            title: format!("{} · {x} × {y} × {z} · {} ranks", case.name, world.size()),
            ranges,
            cells,
            is_plane: axes == 2,
            length: case.length,
            viscosity: case.speed * case.length / case.reynolds(),
            speed: case.speed,
            is_driven: case.problem.is_driven(),
            steps_per_frame: ((case.length / case.speed / 50.0).round() as u64).clamp(1, 100),
            scene,
        };
        link.send_setup(world, setup);
        let (link, case, speed) = (Arc::clone(link), case.clone(), case.speed);
        Ok(Self { link, renderer, case, speed, drawn: None, rank_0: Rank0State::default() })
    }

    /// Processes requests: draws pictures, and waits while the run is paused. Returns the number of
    /// steps to run, or the reason for the end. Sets the requested speed in flow, case and setup.
    /// Collective.
    ///
    /// If all ranks reject a request for the same reason, the window shows the message and the
    /// ranks continue.
    ///
    /// # Errors
    /// A failure of any rank; a window that cannot be opened.
    pub(crate) fn update(
        &mut self,
        world: &World,
        watcher: &EndWatcher,
        mut run: RunState<'_, '_>,
    ) -> Result<ControlFlow<End, u64>> {
        loop {
            if let Some(end) = watcher.reason(world)? {
                return Ok(ControlFlow::Break(end));
            }
            let command = command_of_rank_0(world, || self.rank_0.next_command(world, &self.link, watcher))?;
            let Some(command) = command else { continue };
            let start = Instant::now();
            let result = self.set_speed(command.speed, &mut run).and_then(|()| {
                if command.with_distribution {
                    self.send_distribution(world, run.flow, run.fields, &command.scene)?;
                }
                self.draw(run.flow, run.fields, &command.scene, start)
            });
            if let Err(error) = result {
                self.link.refuse(world, &error)?;
            }
            if command.steps > 0 {
                self.rank_0.run_start = Some((Instant::now(), run.flow.steps()));
                return Ok(ControlFlow::Continue(command.steps));
            }
        }
    }

    /// Shows an error with the last picture until the window is closed or the run is ended.
    /// Collective.
    ///
    /// # Errors
    /// A failure of any rank.
    pub(crate) fn hold_error(&mut self, world: &World, watcher: &EndWatcher, error: &Error) -> Result<()> {
        if world.rank() == 0 {
            complain(format_args!("{}; close the window to end the program", error.kind()));
            self.link.send_event(FlowEvent::Stopped(error.kind().to_string()));
        }
        while watcher.reason(world)?.is_none() {
            // Requests are ignored: the flow cannot continue.
            command_of_rank_0(world, || self.link.next(world, || watcher.is_set_here()).map(drop))?;
        }
        Ok(())
    }

    /// Sets the speed that drives the flow, if it differs from the current speed.
    fn set_speed(&mut self, speed: f64, run: &mut RunState<'_, '_>) -> Result<()> {
        let RunState { setup, case, flow, .. } = run;
        if speed == self.speed {
            return Ok(());
        }
        let old_speed = std::mem::replace(&mut self.speed, speed);
        let driven = self.case.with_speed(speed);
        flow.change_problem(&driven.problem)?;
        (setup.speed, setup.re) = (Some(speed), Some(driven.reynolds()));
        // The size of a cell and the time of a step do not change.
        if let Some(physical) = &mut setup.physical {
            physical.speed *= speed / old_speed;
        }
        **case = driven;
        self.renderer.discard_cache();
        self.drawn = None;
        Ok(())
    }

    /// Draws a scene if step or scene differ from the last picture, and sends it to the window.
    fn draw(&mut self, flow: &mut Flow<'_>, fields: &Fields, scene: &Scene, request_start: Instant) -> Result<()> {
        let now = (flow.steps(), scene.clone());
        if self.drawn.as_ref() == Some(&now) {
            return Ok(());
        }
        // Also set before an error: the same scene would fail again.
        self.drawn = Some(now);
        // Computed before the timer starts: this time does not depend on the size of the picture.
        self.renderer.values(flow, fields, scene.quantity)?;
        let start = Instant::now();
        let Some(image) = self.renderer.draw(flow, fields, scene, false)? else { return Ok(()) };
        let (secs, state) = (request_start.elapsed().as_secs_f64(), &mut self.rank_0);
        state.pace.learn(scene.look.size, start.elapsed().as_secs_f64());
        let updates = |(since, from): (Instant, u64)| {
            let steps = flow.steps().saturating_sub(from) as f64;
            flow.fluid_cells() as f64 * steps / since.elapsed().as_secs_f64().max(1e-9) / 1e6
        };
        let mlups = state.run_start.take().map_or(0.0, updates);
        let quick = state.request.as_ref().is_some_and(|request| request.settings.scene.look.size != scene.look.size);
        let (image, details) = (colour_image(&image), Progress { steps: flow.steps(), mlups });
        self.link.send_picture(FinishedPicture { image, quick, secs, restarts_rate: false, details });
        Ok(())
    }

    /// Computes the distribution of the values over the range of a scene, and sends it to the
    /// window.
    fn send_distribution(&mut self, world: &World, flow: &mut Flow<'_>, fields: &Fields, scene: &Scene) -> Result<()> {
        let [x, y, z] = flow.box_ranges();
        let [min, max] = scene.range;
        let values = self.renderer.values(flow, fields, scene.quantity)?;
        let box_values = || values.at((x.clone(), y.clone(), z.clone()));
        let counts = world.histogram(box_values(), &Bins::even(min as f32, max as f32, DISTRIBUTION_BINS)?)?.counts;
        let extremes = world.extremes(box_values())?.map_or([0.0; 2], |found| [found.min, found.max].map(f64::from));
        if world.rank() == 0 {
            let found = Distribution { min, max, counts };
            self.link.send_event(FlowEvent::Values(scene.quantity, Box::new(found), extremes));
        }
        Ok(())
    }
}

impl Rank0State {
    /// Next command for all ranks; `None`: nothing to do. Waits for a request if the run is paused.
    fn next_command(&mut self, world: &World, link: &Link, watcher: &EndWatcher) -> Result<Option<Command>> {
        let waits = self.is_idle || self.request.is_none();
        let next = if waits { link.next(world, || watcher.is_set_here())? } else { link.next(world, || true)? };
        match next {
            Next::Request(request) => self.request = Some(*request),
            Next::Nothing if waits => return Ok(None),
            // The next check of `watcher` ends the run.
            Next::End => return Ok(None),
            Next::Nothing => {}
        }
        let Some(Request { settings: request, moving }) = &self.request else { return Ok(None) };
        let single = u64::from(!request.is_running && request.single_steps > self.single_steps);
        self.single_steps = if request.is_running { request.single_steps } else { self.single_steps + single };
        let steps = if request.is_running { request.steps_per_frame } else { single };
        self.is_idle = steps == 0;
        let mut scene = request.scene.clone();
        if request.is_running || *moving || steps > 0 {
            let (full, quick) = (scene.look.size, self.pace.quick(scene.look.size));
            let side = |full: u32, quick: u32| quick.max((f64::from(full) * MIN_SCALE) as u32);
            scene.look.size = (side(full.0, quick.0), side(full.1, quick.1));
        }
        let is_fresh = |(time, quantity): &(Instant, ShownQuantity)| {
            time.elapsed() < DISTRIBUTION_INTERVAL && *quantity == scene.quantity
        };
        let is_requested = std::mem::replace(&mut self.distributions, request.distributions) != request.distributions;
        let with_distribution = is_requested || (!moving && !self.last_distribution.as_ref().is_some_and(is_fresh));
        if with_distribution {
            self.last_distribution = Some((Instant::now(), scene.quantity));
        }
        Ok(Some(Command { scene, speed: request.speed, with_distribution, steps }))
    }
}
