//! The time loop of a run, with outputs and checks between steps.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use zippy::{Error, Result, World};
use zippy_io::checkpoint::{Checkpoints, Contents};
use zippy_lbm::{Fields, Flow, Populations};

use crate::end_conditions::{CheckInterval, End, EndWatcher};
use crate::frame_writer::FrameWriter;
use crate::options::Options;
use crate::outputs::Outputs;
use crate::prepared_case::PreparedCase;
use crate::report::Report;
use crate::restart::{KEPT_CHECKPOINTS, Start};
use crate::say::{complain, say};
use crate::setup::Setup;
use crate::steady::SteadyCheck;
use crate::view::{Link, Window};
use crate::{compare, output_paths, restart};

/// Steps between checks of the fastest cell, which detect an unstable flow.
const CHECK_INTERVAL: u64 = 50;

/// Number of steps of a run that ends with its window.
const UNLIMITED_STEPS: u64 = 1 << 40;

/// Performs all requested runs in sequence. `link` leads to the window that shows them. Collective.
pub fn run_all(world: &World, options: &Options, link: Option<&Arc<Link>>) -> Result<()> {
    output_paths::check(world, options)?;
    let mut errors: Vec<(f64, f64)> = Vec::new();
    if let Some(note) = options.ambiguity() {
        note_once(world, "note", &note);
    }
    for Start { mut setup, checkpoint, notes } in restart::starts(world, options)? {
        notes.iter().for_each(|note| note_once(world, "note", note));
        let mut prepared = PreparedCase::new(world, &setup)?;
        // The exact solution holds only for an unchanged problem.
        prepared.case.exact =
            prepared.case.exact.filter(|_| !checkpoint.as_ref().is_some_and(|(_, is_changed)| *is_changed));
        let mut flow =
            restart::flow(world, options, &mut setup, &prepared, checkpoint.as_ref().map(|(found, _)| found))?;
        for (body, _) in flow.surface_cells().iter().enumerate().filter(|(_, cells)| **cells == 0) {
            prepared.warnings.push(format!(
                "bodies[{body}] touches no fluid: it contains no cell centre, or is inside other solids"
            ));
        }
        // Before the steps, which may take hours or fail.
        let warnings = prepared.case.warnings().into_iter().chain(prepared.warnings.clone());
        warnings.for_each(|warning| note_once(world, "warning", &warning));
        let length = prepared.case.length;
        let report = run_one(world, options, setup, prepared, &mut flow, link)?;
        if let Some(error) = report.exact_error {
            errors.push((length, error));
        }
        if world.rank() == 0 {
            say(if options.json { report.json() } else { report.text() })?;
        }
    }
    for pair in errors.windows(2) {
        let [(coarse, coarse_error), (fine, fine_error)] = [pair[0], pair[1]];
        if world.rank() == 0 && fine != coarse {
            let order = (coarse_error / fine_error).ln() / (fine / coarse).ln();
            if options.json {
                say(serde_json::json!({ "n": [coarse, fine], "order": order }))?;
            } else {
                say(format_args!("from n = {coarse} to {fine} the error falls with order {order:.2}"))?;
            }
        }
    }
    Ok(())
}

/// Prints a line to standard error on rank 0.
fn note_once(world: &World, kind: &str, text: &str) {
    if world.rank() == 0 {
        complain(format_args!("{kind}: {text}"));
    }
}

/// Runs one flow to its end and returns the report.
fn run_one(
    world: &World,
    options: &Options,
    mut setup: Setup,
    mut prepared: PreparedCase,
    flow: &mut Flow,
    link: Option<&Arc<Link>>,
) -> Result<Report> {
    let first_step = flow.steps();
    world.debug().skip_points(first_step);
    let last_step = first_step.saturating_add(options.steps.unwrap_or(match link {
        Some(_) => UNLIMITED_STEPS,
        None if options.until_steady => prepared.case.steps.saturating_mul(20),
        None => prepared.case.steps,
    }));
    let checkpoints = options.checkpoint.as_ref().map(|directory| Checkpoints::new(directory, KEPT_CHECKPOINTS));
    let mut steady_check = options.until_steady.then(|| SteadyCheck::new(&prepared.case));
    let closed = link.map(|link| {
        let link = Arc::clone(link);
        Box::new(move || link.is_closed()) as Box<dyn Fn() -> bool>
    });
    let has_outputs = checkpoints.is_some() || options.render.is_some() || link.is_some();
    let watcher = EndWatcher::start(has_outputs, options.budget.map(Duration::from_secs), closed);
    let watcher = world.agree("watching for signals", watcher)?;
    let fields = flow.fields()?;
    let frames = options.every.map_or(1, |every| last_step.div_ceil(every) - first_step / every).saturating_add(1);
    let table_interval = options.inputs.line.or(options.every).or(prepared.table_interval);
    let mut outputs = Outputs::open(world, options, &prepared, flow, frames)?;
    outputs.write(world, flow, &fields)?;
    outputs.write_tables(world, flow, &fields)?;
    let mut window = link.map(|link| Window::open(world, link, options, &prepared.case, flow)).transpose()?;
    flow.start_check()?;
    flow.finish_checks()?;
    let bar = if link.is_some() { ProgressBar::hidden() } else { bar(world, last_step - first_step) };
    let mut check_interval = CheckInterval::new();
    let (mut secs, mut saved, mut end) = (0.0, None, None);
    while end.is_none() && flow.steps() < last_step {
        let action = window
            .as_mut()
            .map(|window| window.update(world, &watcher, (&mut setup, &mut prepared.case), flow, &fields));
        let window_step = match action.transpose()? {
            Some(ControlFlow::Continue(steps)) => flow.steps() + steps,
            Some(ControlFlow::Break(reason)) => {
                check(flow, &fields).map_err(|error| with_checkpoint(error, options, saved))?;
                end = Some(reason);
                break;
            }
            None => last_step,
        };
        let next = |every: Option<u64>| every.map_or(last_step, |every| (flow.steps() / every + 1) * every);
        let table_interval_used = table_interval.filter(|_| outputs.has_tables());
        let stop = [options.every, table_interval_used, steady_check.as_ref().map(|check| check.interval)];
        let stop = stop.into_iter().map(next).fold(last_step.min(window_step), u64::min);
        let start = Instant::now();
        while end.is_none() && flow.steps() < stop {
            let (steps, start_of_steps) = ((stop - flow.steps()).min(check_interval.steps()), Instant::now());
            let observer_secs = advance(world, flow, &fields, steps)?;
            world.gpu().wait()?;
            check_interval.update(world, steps, start_of_steps.elapsed().as_secs_f64() - observer_secs)?;
            secs -= observer_secs;
            if let Err(error) = flow.finish_checks() {
                return Err(show_error(world, window.as_mut(), &watcher, with_checkpoint(error, options, saved))?);
            }
            bar.set_position(flow.steps() - first_step);
            end = watcher.reason(world)?;
        }
        world.gpu().wait()?;
        world.barrier()?;
        secs += start.elapsed().as_secs_f64();
        let cells = flow.fluid_cells() as f64 * (flow.steps() - first_step) as f64;
        bar.set_message(format!("{:.1} MLUPS", cells / secs / 1e6));
        let due = options.every.is_some_and(|every| flow.steps().is_multiple_of(every));
        // Only a valid flow may be written, shown or kept.
        let needs_full_check = end.is_some() || due && checkpoints.is_some() || flow.steps() == last_step;
        let checked = if needs_full_check {
            check(flow, &fields)
        } else {
            flow.start_check().and_then(|()| flow.finish_checks())
        };
        if let Err(error) = checked {
            return Err(show_error(world, window.as_mut(), &watcher, with_checkpoint(error, options, saved))?);
        }
        if let Some(check) = &mut steady_check
            && flow.steps().is_multiple_of(check.interval)
            && check.is_steady(world, &prepared.case, flow, &fields)?
        {
            end = Some(End::Steady);
        }
        if let (Some(checkpoints), true) = (&checkpoints, due) {
            save(world, checkpoints, &setup, flow)?;
            saved = Some(flow.steps());
        }
        if due {
            outputs.write(world, flow, &fields)?;
        }
        if table_interval.is_some_and(|interval| flow.steps().is_multiple_of(interval)) {
            outputs.write_tables(world, flow, &fields)?;
        }
    }
    bar.finish_and_clear();
    outputs.write(world, flow, &fields)?;
    outputs.write_tables(world, flow, &fields)?;
    flow.fields_into(&fields)?;
    if let (Some(checkpoints), true) = (&checkpoints, saved != Some(flow.steps())) {
        save(world, checkpoints, &setup, flow)?;
    }
    let mut report = Report::new(&prepared, flow, world.size(), flow.steps() - first_step, secs);
    report.end = end.unwrap_or(if options.until_steady { End::Unsteady } else { End::Steps });
    report.pulls = flow.pulls()?;
    report.mass = flow.mass()?;
    report.drawing = outputs.frames.map(FrameWriter::finish).transpose()?;
    if let Some(exact) = &prepared.case.exact {
        report.exact_error = Some(compare::exact(world, &prepared.case, flow, &fields, exact)?);
    }
    if options.compare.is_some() {
        report.ghia = Some(compare::ghia(world, &prepared.case, flow, &fields)?);
    }
    if options.hash {
        report.hash = Some(flow.hash()?);
    }
    Ok(report)
}

/// Advances the flow by `steps` steps with a debug point after each. Density and velocity are
/// computed only while an observer is attached. Returns the seconds that observers used or paused
/// the run.
fn advance(world: &World, flow: &mut Flow, fields: &Fields, steps: u64) -> Result<f64> {
    let mut secs = 0.0;
    for _ in 0..steps {
        flow.step()?;
        if flow.steps().is_multiple_of(CHECK_INTERVAL) {
            flow.start_check()?;
        }
        if !world.debug().is_observed("step") {
            world.debug_point("step")?;
            continue;
        }
        world.gpu().wait()?;
        let observed = Instant::now();
        flow.fields_into(fields)?;
        world.debug_point("step")?;
        secs += observed.elapsed().as_secs_f64();
    }
    Ok(secs)
}

/// Checks the flow completely: fastest cell, density and velocity.
fn check(flow: &mut Flow, fields: &Fields) -> Result<()> {
    flow.start_check()?;
    flow.finish_checks()?;
    flow.fields_into(fields)?;
    flow.check(fields)
}

/// Adds the last checkpoint before the error to its message.
fn with_checkpoint(error: Error, options: &Options, saved: Option<u64>) -> Error {
    match (saved, &options.checkpoint) {
        (Some(step), Some(directory)) => {
            Error::program(format!("{error}; the last valid checkpoint is step {step} in {}", directory.display()))
        }
        _ => error,
    }
}

/// Shows an error in the window, if there is a window, until the window is closed. Collective.
fn show_error(world: &World, window: Option<&mut Window>, watcher: &EndWatcher, error: Error) -> Result<Error> {
    if let Some(window) = window {
        window.hold_error(world, watcher, &error)?;
    }
    Ok(error)
}

fn save(world: &World, checkpoints: &Checkpoints, setup: &Setup, flow: &mut Flow) -> Result<()> {
    let steps = flow.steps();
    let contents = match flow.populations()? {
        Populations::Single(f) => Contents::new().array(f),
        Populations::Half(f) => Contents::new().array(f),
    };
    let contents = contents.state(setup);
    checkpoints.save(world, steps, &contents)
}

/// Progress bar on the terminal of rank 0; hidden elsewhere.
fn bar(world: &World, steps: u64) -> ProgressBar {
    if world.rank() > 0 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} steps, {msg}, {eta} left");
    ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
