//! A run: steps, and what is done between them.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use zippy::{Error, Result, World};
use zippy_io::checkpoint::{Checkpoints, Contents};
use zippy_lbm::{Fields, Flow, Populations};

use crate::ending::{End, Ending, Listening};
use crate::made::Made;
use crate::options::Options;
use crate::outputs::Outputs;
use crate::picture::Painter;
use crate::report::Report;
use crate::restart::{KEPT, Start};
use crate::say::{complain, say};
use crate::setup::Setup;
use crate::steady::Watch;
use crate::view::{Link, Window};
use crate::{compare, places, restart};

/// Steps from one look for the fastest cell to the next: a flow that has become unstable is found
/// soon.
const CHECK: u64 = 50;

/// The steps of a run that a window ends: more than anybody waits for.
const ENDLESS: u64 = 1 << 40;

/// All runs that are asked for, one after the other; `link` leads to the window that shows them. Collective.
pub fn all(world: &World, options: &Options, link: Option<&Arc<Link>>) -> Result<()> {
    places::check(world, options)?;
    let mut errors: Vec<(f64, f64)> = Vec::new();
    if let Some(note) = options.ambiguity() {
        note_once(world, "note", &note);
    }
    for Start { mut setup, checkpoint, notes } in restart::starts(world, options)? {
        notes.iter().for_each(|note| note_once(world, "note", note));
        let mut made = Made::new(world, &setup)?;
        // What was before the change is not in what is known.
        made.case.exact = made.case.exact.filter(|_| !checkpoint.as_ref().is_some_and(|(_, is_changed)| *is_changed));
        let mut flow = restart::flow(world, options, &mut setup, &made, checkpoint.as_ref().map(|(found, _)| found))?;
        for (body, _) in flow.surface_cells().iter().enumerate().filter(|(_, cells)| **cells == 0) {
            made.warnings.push(format!(
                "bodies[{body}] touches no fluid: it has no cell, or lies within other solids; a body smaller than a \
                 cell may lie between the middles of cells"
            ));
        }
        // Before the steps, which may take hours or fail.
        let warnings = made.case.warnings().into_iter().chain(made.warnings.clone());
        warnings.for_each(|warning| note_once(world, "warning", &warning));
        let length = made.case.length;
        let report = one(world, options, setup, made, &mut flow, link)?;
        if let Some(error) = report.exact {
            errors.push((length, error));
        }
        if world.rank() == 0 {
            say(if options.json { report.json() } else { report.text() })?;
        }
    }
    for pair in errors.windows(2) {
        let [(coarse, before), (fine, after)] = [pair[0], pair[1]];
        if world.rank() == 0 && fine != coarse {
            let order = (before / after).ln() / (fine / coarse).ln();
            match options.json {
                true => say(serde_json::json!({ "n": [coarse, fine], "order": order }))?,
                false => say(format_args!("from n = {coarse} to {fine} the error falls with order {order:.2}"))?,
            }
        }
    }
    Ok(())
}

/// A line to standard error, of one rank.
fn note_once(world: &World, kind: &str, text: &str) {
    if world.rank() == 0 {
        complain(format_args!("{kind}: {text}"));
    }
}

/// One flow until its end.
fn one(
    world: &World,
    options: &Options,
    mut setup: Setup,
    mut made: Made,
    flow: &mut Flow,
    link: Option<&Arc<Link>>,
) -> Result<Report> {
    let begun = flow.steps();
    world.skip_debug_points(begun);
    let until = begun.saturating_add(options.steps.unwrap_or(match link {
        Some(_) => ENDLESS,
        None if options.until_steady => made.case.steps.saturating_mul(20),
        None => made.case.steps,
    }));
    let checkpoints = options.checkpoint.as_ref().map(|directory| Checkpoints::new(directory, KEPT));
    let mut watch = options.until_steady.then(|| Watch::new(&made.case));
    let closed = link.map(|link| {
        let link = Arc::clone(link);
        Box::new(move || link.is_closed()) as Box<dyn Fn() -> bool>
    });
    let saves = checkpoints.is_some() || options.render.is_some() || link.is_some();
    let ending = Ending::watch(saves, options.budget.map(Duration::from_secs), closed);
    let ending = world.agree("watching for signals", ending)?;
    let fields = flow.fields()?;
    let frames = options.every.map_or(1, |every| until.div_ceil(every) - begun / every).saturating_add(1);
    let line = options.inputs.line.or(options.every).or(made.line);
    let mut outputs = Outputs::open(world, options, &made, flow, frames)?;
    outputs.write(world, flow, &fields)?;
    outputs.lines(world, flow, &fields)?;
    let mut window = link.map(|link| Window::open(world, link, options, &made.case, flow)).transpose()?;
    flow.start_check()?;
    flow.finish_checks()?;
    let bar = if link.is_some() { ProgressBar::hidden() } else { bar(world, until - begun) };
    let mut listening = Listening::new();
    let (mut secs, mut saved, mut end) = (0.0, None, None);
    while end.is_none() && flow.steps() < until {
        let turn =
            window.as_mut().map(|window| window.turn(world, &ending, (&mut setup, &mut made.case), flow, &fields));
        let shown = match turn.transpose()? {
            Some(ControlFlow::Continue(steps)) => flow.steps() + steps,
            Some(ControlFlow::Break(asked)) => {
                check(flow, &fields).map_err(|error| with_checkpoint(error, options, saved))?;
                end = Some(asked);
                break;
            }
            None => until,
        };
        let next = |every: Option<u64>| every.map_or(until, |every| (flow.steps() / every + 1) * every);
        let lines = line.filter(|_| outputs.has_tables());
        let stop = [options.every, lines, watch.as_ref().map(|watch| watch.every)];
        let stop = stop.into_iter().map(next).fold(until.min(shown), u64::min);
        let start = Instant::now();
        while end.is_none() && flow.steps() < stop {
            let (steps, begun_at) = ((stop - flow.steps()).min(listening.steps()), Instant::now());
            let looked = advance(world, flow, &fields, steps)?;
            world.gpu().wait()?;
            listening.took(world, steps, begun_at.elapsed().as_secs_f64() - looked)?;
            secs -= looked;
            if let Err(error) = flow.finish_checks() {
                return Err(held(world, window.as_mut(), &ending, with_checkpoint(error, options, saved))?);
            }
            bar.set_position(flow.steps() - begun);
            end = ending.now(world)?;
        }
        world.gpu().wait()?;
        world.barrier()?;
        secs += start.elapsed().as_secs_f64();
        let cells = flow.fluid_cells() as f64 * (flow.steps() - begun) as f64;
        bar.set_message(format!("{:.1} MLUPS", cells / secs / 1e6));
        let due = options.every.is_some_and(|every| flow.steps().is_multiple_of(every));
        // Before it is written, seen or kept.
        let checked = match end.is_some() || due && checkpoints.is_some() || flow.steps() == until {
            true => check(flow, &fields),
            false => flow.start_check().and_then(|()| flow.finish_checks()),
        };
        if let Err(error) = checked {
            return Err(held(world, window.as_mut(), &ending, with_checkpoint(error, options, saved))?);
        }
        if let Some(watch) = &mut watch
            && flow.steps().is_multiple_of(watch.every)
            && watch.look(world, &made.case, flow, &fields)?
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
        if line.is_some_and(|line| flow.steps().is_multiple_of(line)) {
            outputs.lines(world, flow, &fields)?;
        }
    }
    bar.finish_and_clear();
    outputs.write(world, flow, &fields)?;
    outputs.lines(world, flow, &fields)?;
    flow.fields_into(&fields)?;
    if let (Some(checkpoints), true) = (&checkpoints, saved != Some(flow.steps())) {
        save(world, checkpoints, &setup, flow)?;
    }
    let mut report = Report::new(&made, flow, world.size(), flow.steps() - begun, secs);
    report.end = end.unwrap_or(if options.until_steady { End::Unsteady } else { End::Steps });
    report.pulls = flow.pulls()?;
    report.mass = flow.mass()?;
    report.drawing = outputs.painter.map(Painter::finish).transpose()?;
    if let Some(exact) = &made.case.exact {
        report.exact = Some(compare::exact(world, &made.case, flow, &fields, exact)?);
    }
    if options.compare.is_some() {
        report.ghia = Some(compare::ghia(world, &made.case, flow, &fields)?);
    }
    if options.hash {
        report.hash = Some(flow.hash()?);
    }
    Ok(report)
}

/// So many steps, with a debug point behind each. Density and velocity are there for who looks, and not computed otherwise.
/// Returns the seconds for which somebody looked, or the run was paused.
fn advance(world: &World, flow: &mut Flow, fields: &Fields, steps: u64) -> Result<f64> {
    let mut secs = 0.0;
    for _ in 0..steps {
        flow.step()?;
        if flow.steps().is_multiple_of(CHECK) {
            flow.start_check()?;
        }
        if !world.is_observed("step") {
            world.debug_point("step")?;
            continue;
        }
        world.gpu().wait()?;
        let looked = Instant::now();
        flow.fields_into(fields)?;
        world.debug_point("step")?;
        secs += looked.elapsed().as_secs_f64();
    }
    Ok(secs)
}

/// Whether the flow is one still.
fn check(flow: &mut Flow, fields: &Fields) -> Result<()> {
    flow.start_check()?;
    flow.finish_checks()?;
    flow.fields_into(fields)?;
    flow.check(fields)
}

/// An error with the last checkpoint before it.
fn with_checkpoint(error: Error, options: &Options, saved: Option<u64>) -> Error {
    match (saved, &options.checkpoint) {
        (Some(step), Some(directory)) => Error::program(format!(
            "{error}; the last good checkpoint is that of step {step} in {}",
            directory.display()
        )),
        _ => error,
    }
}

/// Shows an error in the window, if there is one, until it is closed. Collective.
fn held(world: &World, window: Option<&mut Window>, ending: &Ending, error: Error) -> Result<Error> {
    if let Some(window) = window {
        window.hold(world, ending, &error)?;
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

/// A bar on rank 0's terminal; nothing elsewhere.
fn bar(world: &World, steps: u64) -> ProgressBar {
    if world.rank() > 0 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} steps, {msg}, {eta} left");
    ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
