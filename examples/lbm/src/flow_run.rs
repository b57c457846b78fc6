//! The time loop of one flow, with outputs and checks between steps.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use zippy::{Error, Result, World};
use zippy_lbm::{Fields, Flow, Populations};
use zippy_store::checkpoint::{Checkpoints, Contents};

use crate::compare;
use crate::end_conditions::{CheckInterval, End, EndWatcher};
use crate::frame_writer::FrameWriter;
use crate::options::Options;
use crate::outputs::Outputs;
use crate::prepared_case::PreparedCase;
use crate::report::{Report, RunTime};
use crate::restart::KEPT_CHECKPOINTS;
use crate::run_state::RunState;
use crate::setup::Setup;
use crate::steady::SteadyCheck;
use crate::view::{Link, Window};

/// Steps between checks of the fastest cell, which detect an unstable flow.
const CHECK_INTERVAL: u64 = 50;

/// Number of steps of a run that ends with its window.
const UNLIMITED_STEPS: u64 = 1 << 40;

/// Maximum length of a run until the flow is steady, as a multiple of the steps of the case.
const MAX_STEADY_FACTOR: u64 = 20;

/// Setup, case and flow of a run.
pub(crate) struct RunInputs<'w> {
    pub setup: Setup,
    pub prepared: PreparedCase,
    pub flow: Flow<'w>,
}

/// A run of one flow.
pub(crate) struct FlowRun<'r, 'w> {
    world: &'w World,
    options: &'r Options,
    setup: Setup,
    prepared: PreparedCase,
    flow: Flow<'w>,
    fields: Fields,
    outputs: Outputs<'w>,
    window: Option<Window<'w>>,
    watcher: EndWatcher,
    steady_check: Option<SteadyCheck>,
    checkpoints: Option<Checkpoints>,
    /// Step of the last checkpoint of this run.
    saved_step: Option<u64>,
    first_step: u64,
    last_step: u64,
    table_interval: Option<u64>,
    check_interval: CheckInterval,
    /// Seconds of steps, without outputs, pauses and observers.
    secs: f64,
    progress: ProgressBar,
}

impl<'r, 'w> FlowRun<'r, 'w> {
    /// Opens the outputs of a run and writes the first step. `link` leads to the window.
    /// Collective.
    pub(crate) fn start(
        world: &'w World,
        options: &'r Options,
        inputs: RunInputs<'w>,
        link: Option<&Arc<Link>>,
    ) -> Result<Self> {
        let RunInputs { setup, prepared, mut flow } = inputs;
        let first_step = flow.steps();
        world.debug().skip_points(first_step);
        let last_step = first_step.saturating_add(options.steps.unwrap_or(match link {
            Some(_) => UNLIMITED_STEPS,
            None if options.until_steady => prepared.case.steps.saturating_mul(MAX_STEADY_FACTOR),
            None => prepared.case.steps,
        }));
        let checkpoints = options.checkpoint.as_ref().map(|directory| Checkpoints::new(directory, KEPT_CHECKPOINTS));
        let steady_check = options.until_steady.then(|| SteadyCheck::new(&prepared.case));
        let is_window_closed = link.map(|link| {
            let link = Arc::clone(link);
            Box::new(move || link.is_closed()) as Box<dyn Fn() -> bool>
        });
        let has_outputs = checkpoints.is_some() || options.render.is_some() || link.is_some();
        let watcher = EndWatcher::start(has_outputs, options.budget.map(Duration::from_secs), is_window_closed);
        let watcher = world.agree("watching for signals", watcher)?;
        let fields = flow.fields()?;
        let frames = options.every.map_or(1, |every| last_step.div_ceil(every) - first_step / every).saturating_add(1);
        let mut outputs = Outputs::open(world, options, &prepared, &flow, frames)?;
        outputs.write(world, &mut flow, &fields)?;
        outputs.write_tables(world, &mut flow, &fields)?;
        let window = link.map(|link| Window::open(world, link, options, &prepared.case, &flow)).transpose()?;
        flow.start_check()?;
        flow.finish_checks()?;
        let progress = if link.is_some() { ProgressBar::hidden() } else { progress_bar(world, last_step - first_step) };
        Ok(Self {
            world,
            options,
            table_interval: options.inputs.line.or(options.every).or(prepared.table_interval),
            setup,
            prepared,
            flow,
            fields,
            outputs,
            window,
            watcher,
            steady_check,
            checkpoints,
            saved_step: None,
            first_step,
            last_step,
            check_interval: CheckInterval::new(),
            secs: 0.0,
            progress,
        })
    }

    /// Runs to the end, and returns the report. Collective.
    ///
    /// # Errors
    /// An unstable flow; an output that cannot be written; a failure of any rank.
    pub(crate) fn run(mut self) -> Result<Report> {
        let mut end = None;
        while end.is_none() && self.flow.steps() < self.last_step {
            let window_step = match self.update_window()? {
                ControlFlow::Continue(step) => step,
                ControlFlow::Break(reason) => {
                    self.check_fully().map_err(|error| self.with_last_checkpoint(error))?;
                    end = Some(reason);
                    break;
                }
            };
            end = self.advance_to(self.next_stop(window_step))?;
            self.check_flow(end.is_some())?;
            if self.is_steady()? {
                end = Some(End::Steady);
            }
            self.write_due_outputs()?;
        }
        self.finish(end)
    }

    /// Processes requests of the window. Returns the next step at which the window has requests, or
    /// the reason for the end.
    fn update_window(&mut self) -> Result<ControlFlow<End, u64>> {
        let Some(window) = &mut self.window else { return Ok(ControlFlow::Continue(self.last_step)) };
        let (setup, case) = (&mut self.setup, &mut self.prepared.case);
        let state = RunState { setup, case, flow: &mut self.flow, fields: &self.fields };
        Ok(match window.update(self.world, &self.watcher, state)? {
            ControlFlow::Continue(steps) => ControlFlow::Continue(self.flow.steps() + steps),
            ControlFlow::Break(reason) => ControlFlow::Break(reason),
        })
    }

    /// Returns the next step with an output, a comparison or a request of the window.
    fn next_stop(&self, window_step: u64) -> u64 {
        let next_multiple = |interval: u64| (self.flow.steps() / interval + 1) * interval;
        let table_interval = self.table_interval.filter(|_| self.outputs.has_tables());
        let intervals = [self.options.every, table_interval, self.steady_check.as_ref().map(|check| check.interval)];
        intervals.into_iter().flatten().map(next_multiple).fold(self.last_step.min(window_step), u64::min)
    }

    /// Advances the flow to a step, or until a condition ends the run.
    fn advance_to(&mut self, stop: u64) -> Result<Option<End>> {
        let start = Instant::now();
        let mut end = None;
        while end.is_none() && self.flow.steps() < stop {
            let steps = (stop - self.flow.steps()).min(self.check_interval.steps());
            let start_of_steps = Instant::now();
            let observer_secs = self.advance(steps)?;
            self.world.gpu().wait()?;
            self.check_interval.update(self.world, steps, start_of_steps.elapsed().as_secs_f64() - observer_secs)?;
            self.secs -= observer_secs;
            let checked = self.flow.finish_checks();
            self.stop_at_error(checked)?;
            self.progress.set_position(self.flow.steps() - self.first_step);
            end = self.watcher.reason(self.world)?;
        }
        self.world.gpu().wait()?;
        self.world.barrier()?;
        self.secs += start.elapsed().as_secs_f64();
        let updates = self.flow.fluid_cells() as f64 * (self.flow.steps() - self.first_step) as f64;
        self.progress.set_message(format!("{:.1} MLUPS", updates / self.secs / 1e6));
        Ok(end)
    }

    /// Advances the flow by `steps` steps with a debug point after each. Density and velocity are
    /// computed only while an observer is attached. Returns the seconds that observers used or
    /// paused the run.
    fn advance(&mut self, steps: u64) -> Result<f64> {
        let mut secs = 0.0;
        for _ in 0..steps {
            self.flow.step()?;
            if self.flow.steps().is_multiple_of(CHECK_INTERVAL) {
                self.flow.start_check()?;
            }
            if !self.world.debug().is_observed("step") {
                self.world.debug_point("step")?;
                continue;
            }
            self.world.gpu().wait()?;
            let observed = Instant::now();
            self.flow.update_fields(&self.fields)?;
            self.world.debug_point("step")?;
            secs += observed.elapsed().as_secs_f64();
        }
        Ok(secs)
    }

    fn is_output_due(&self) -> bool {
        self.options.every.is_some_and(|every| self.flow.steps().is_multiple_of(every))
    }

    /// Checks the flow before it is written or shown: completely before a checkpoint and at the
    /// end, else only the fastest cell.
    fn check_flow(&mut self, is_end: bool) -> Result<()> {
        let is_checkpoint_due = self.is_output_due() && self.checkpoints.is_some();
        let checked = if is_end || is_checkpoint_due || self.flow.steps() == self.last_step {
            self.check_fully()
        } else {
            self.flow.start_check().and_then(|()| self.flow.finish_checks())
        };
        self.stop_at_error(checked)
    }

    fn check_fully(&mut self) -> Result<()> {
        self.flow.start_check()?;
        self.flow.finish_checks()?;
        self.flow.update_fields(&self.fields)?;
        self.flow.check_stability(&self.fields)
    }

    /// Shows an error in the window, if there is a window, until the window is closed. Collective.
    fn stop_at_error(&mut self, result: Result<()>) -> Result<()> {
        let Err(error) = result else { return Ok(()) };
        let error = self.with_last_checkpoint(error);
        if let Some(window) = &mut self.window {
            window.hold_error(self.world, &self.watcher, &error)?;
        }
        Err(error)
    }

    /// Adds the last checkpoint before the error to its message.
    fn with_last_checkpoint(&self, error: Error) -> Error {
        match (self.saved_step, &self.options.checkpoint) {
            (Some(step), Some(directory)) => {
                Error::program(format!("{error}; the last valid checkpoint is step {step} in {}", directory.display()))
            }
            _ => error,
        }
    }

    fn is_steady(&mut self) -> Result<bool> {
        match &mut self.steady_check {
            Some(check) if self.flow.steps().is_multiple_of(check.interval) => {
                check.is_steady(self.world, &self.prepared.case, &mut self.flow, &self.fields)
            }
            _ => Ok(false),
        }
    }

    fn write_due_outputs(&mut self) -> Result<()> {
        if self.is_output_due() {
            self.save_checkpoint()?;
            self.outputs.write(self.world, &mut self.flow, &self.fields)?;
        }
        if self.table_interval.is_some_and(|interval| self.flow.steps().is_multiple_of(interval)) {
            self.outputs.write_tables(self.world, &mut self.flow, &self.fields)?;
        }
        Ok(())
    }

    /// Writes a checkpoint of the current step, if there are checkpoints.
    fn save_checkpoint(&mut self) -> Result<()> {
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        let step = self.flow.steps();
        let contents = match self.flow.populations()? {
            Populations::Single(f) => Contents::new().array(f),
            Populations::Half(f) => Contents::new().array(f),
        };
        checkpoints.save(self.world, step, &contents.state(&self.setup))?;
        self.saved_step = Some(step);
        Ok(())
    }

    /// Writes the last outputs, and makes the report.
    fn finish(mut self, end: Option<End>) -> Result<Report> {
        self.progress.finish_and_clear();
        self.outputs.write(self.world, &mut self.flow, &self.fields)?;
        self.outputs.write_tables(self.world, &mut self.flow, &self.fields)?;
        self.flow.update_fields(&self.fields)?;
        if self.saved_step != Some(self.flow.steps()) {
            self.save_checkpoint()?;
        }
        let Self { world, options, prepared, mut flow, fields, .. } = self;
        let time = RunTime { steps: flow.steps() - self.first_step, secs: self.secs };
        let mut report = Report::new(&prepared, &flow, world.size(), time);
        report.end = end.unwrap_or(if options.until_steady { End::Unsteady } else { End::Steps });
        report.body_forces = flow.body_forces()?;
        report.mass = flow.mass()?;
        report.drawing = self.outputs.frames.map(FrameWriter::finish).transpose()?;
        if let Some(exact) = &prepared.case.exact_velocity {
            report.exact_error = Some(compare::exact_error(world, &prepared.case, &flow, &fields, exact)?);
        }
        if options.compare.is_some() {
            report.ghia = Some(compare::compare_with_ghia(world, &prepared.case, &flow, &fields)?);
        }
        if options.hash {
            report.hash = Some(flow.hash()?);
        }
        Ok(report)
    }
}

/// Progress bar on the terminal of rank 0; hidden elsewhere.
fn progress_bar(world: &World, steps: u64) -> ProgressBar {
    if world.rank() > 0 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} steps, {msg}, {eta} left");
    ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
