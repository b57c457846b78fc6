//! A run: steps, and what is done between them.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use zippy::{Error, Result, World};
use zippy_io::checkpoint::{Checkpoints, Contents};
use zippy_lbm::described::Probe;
use zippy_lbm::{Fields, Flow, Populations};

use crate::compare;
use crate::ending::{End, Ending, Listening};
use crate::files::Fieldbook;
use crate::made::Made;
use crate::options::{Options, Setup};
use crate::picture::Painter;
use crate::report::Report;
use crate::say::{complain, say};
use crate::steady::Watch;
use crate::tables::{self, Forces, Probes};
use crate::view::{Link, Window};

/// Checkpoints that are kept.
const KEPT: usize = 2;

/// Steps from one look at the flow's numbers to the next: one that has become unstable is found soon.
const CHECK: u64 = 1000;

/// The steps of a run that a window ends: more than anybody waits for.
const ENDLESS: u64 = 1 << 40;

/// All runs that are asked for, one after the other; `link` leads to the window that shows them. Collective.
pub fn all(world: &World, options: &Options, link: Option<&Arc<Link>>) -> Result<()> {
    let mut continued = None;
    let runs = match &options.restart {
        Some(directory) => {
            let checkpoint = Checkpoints::new(directory, KEPT).latest(world)?;
            let none = || Error::program(format!("there is no checkpoint in {}", directory.display()));
            let checkpoint = checkpoint.ok_or_else(none)?;
            let saved: Setup = checkpoint.state()?;
            let setup = options.changed(saved.clone())?;
            let changed = setup != saved;
            continued = Some((saved, checkpoint.step()));
            vec![(setup, Some((checkpoint, changed)))]
        }
        None => world.agree("reading what flows", options.setups())?.into_iter().map(|setup| (setup, None)).collect(),
    };
    if let Some(directory) = &options.checkpoint {
        refuse_others(world, directory, continued.as_ref())?;
    }
    let mut errors: Vec<(f64, f64)> = Vec::new();
    for (setup, checkpoint) in runs {
        let mut made = Made::new(world, &setup)?;
        // What was before the change is not in what is known.
        made.case.exact = made.case.exact.filter(|_| !matches!(checkpoint, Some((_, true))));
        let case = &made.case;
        let mut flow = match &checkpoint {
            None => Flow::new(world, &case.problem, &options.cut())?,
            Some((checkpoint, _)) => {
                let fill = |populations: &Populations| match populations {
                    Populations::Single(f) => checkpoint.fill(world, f),
                    Populations::Half(f) => checkpoint.fill(world, f),
                };
                Flow::resumed(world, &case.problem, &options.cut(), checkpoint.step(), fill)?
            }
        };
        for (body, _) in flow.surface_cells().iter().enumerate().filter(|(_, cells)| **cells == 0) {
            made.warnings.push(format!(
                "bodies[{body}] touches no fluid: it has no cell, or lies within other solids; a body smaller than a \
                 cell may lie between the middles of cells"
            ));
        }
        // Before the steps, which may take hours or fail.
        if world.rank() == 0 {
            let warnings = made.case.warnings().into_iter().chain(made.warnings.clone());
            warnings.for_each(|warning| complain(format_args!("warning: {warning}")));
        }
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

/// Refuses a directory with checkpoints of a run that this run does not continue: new ones would replace them. `continued`:
/// setup and step of the checkpoint from which this run starts. Collective.
fn refuse_others(world: &World, directory: &Path, continued: Option<&(Setup, u64)>) -> Result<()> {
    let Some(found) = Checkpoints::new(directory, KEPT).latest(world)? else { return Ok(()) };
    let (setup, step) = (found.state::<Setup>(), found.step());
    if let (Ok(setup), Some((saved, start))) = (&setup, continued)
        && setup == saved
        && step <= *start
    {
        return Ok(());
    }
    let case = setup.map_or("another program".into(), |setup| format!("the case {}", setup.case));
    let directory = directory.display();
    let advice = match continued {
        None => format!("continue it with --restart {directory}, or name another directory"),
        Some(_) => "name another directory".into(),
    };
    Err(Error::program(format!(
        "--checkpoint {directory}: it has checkpoints of {case}, the latest of step {step}, which those of this run would \
         replace; {advice}"
    )))
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
    let bar = if link.is_some() { ProgressBar::hidden() } else { bar(world, until - begun) };
    let mut listening = Listening::new();
    let (mut secs, mut saved, mut end) = (0.0, None, None);
    while end.is_none() && flow.steps() < until {
        let turn =
            window.as_mut().map(|window| window.turn(world, &ending, (&mut setup, &mut made.case), flow, &fields));
        let shown = match turn.transpose()? {
            Some(ControlFlow::Continue(steps)) => flow.steps() + steps,
            Some(ControlFlow::Break(asked)) => {
                check(flow, &fields, options, saved)?;
                end = Some(asked);
                break;
            }
            None => until,
        };
        let next = |every: Option<u64>| every.map_or(until, |every| (flow.steps() / every + 1) * every);
        let lines = line.filter(|_| outputs.has_tables());
        let stop = [options.every, lines, watch.as_ref().map(|watch| watch.every), Some(CHECK)];
        let stop = stop.into_iter().map(next).fold(until.min(shown), u64::min);
        let start = Instant::now();
        while end.is_none() && flow.steps() < stop {
            let (steps, begun_at) = ((stop - flow.steps()).min(listening.steps()), Instant::now());
            let looked = advance(world, flow, &fields, steps)?;
            world.gpu().wait()?;
            listening.took(world, steps, begun_at.elapsed().as_secs_f64() - looked)?;
            secs -= looked;
            bar.set_position(flow.steps() - begun);
            end = ending.now(world)?;
        }
        world.gpu().wait()?;
        world.barrier()?;
        secs += start.elapsed().as_secs_f64();
        let cells = flow.fluid_cells() as f64 * (flow.steps() - begun) as f64;
        bar.set_message(format!("{:.1} MLUPS", cells / secs / 1e6));
        if end.is_some() || flow.steps().is_multiple_of(CHECK) || flow.steps() == until {
            check(flow, &fields, options, saved)?;
        }
        if let Some(watch) = &mut watch
            && flow.steps().is_multiple_of(watch.every)
            && watch.look(world, &made.case, flow, &fields)?
        {
            end = Some(End::Steady);
        }
        let due = options.every.is_some_and(|every| flow.steps().is_multiple_of(every));
        if let (Some(checkpoints), true) = (&checkpoints, due) {
            check(flow, &fields, options, saved)?;
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

/// What is written while a flow runs, beside checkpoints.
struct Outputs<'w> {
    painter: Option<Painter<'w>>,
    book: Option<Fieldbook>,
    forces: Option<Forces>,
    probes: Option<Probes>,
    /// The steps at which pictures and files, and lines of tables, were written last.
    last: [Option<u64>; 2],
}

impl<'w> Outputs<'w> {
    fn open(world: &'w World, options: &Options, made: &Made, flow: &Flow, frames: u64) -> Result<Self> {
        let inputs = &options.inputs;
        let given = inputs.probe.iter().enumerate().map(|(k, &place)| Probe { name: k.to_string(), place });
        let places: Vec<Probe> = made.probes.iter().cloned().chain(given).collect();
        // Before anything is written over.
        if inputs.probes.is_some() {
            tables::check(flow, &places)?;
        }
        // A window shows itself; a file beside it is one that was asked for.
        let drawn = options.render.filter(|_| !options.showing.view || options.output.is_some());
        let painter = drawn.map(|shown| Painter::new(world, options, shown, &made.case, flow, frames)).transpose()?;
        let book = options.fields.as_deref().map(|directory| Fieldbook::open(world, directory, flow)).transpose()?;
        let units = made.units;
        let forces = inputs.forces.as_deref().map(|path| Forces::open(world, path, flow, units)).transpose()?;
        let probes = inputs.probes.as_deref().map(|path| Probes::open(world, path, flow, places, units)).transpose()?;
        Ok(Self { painter, book, forces, probes, last: [None; 2] })
    }

    fn has_tables(&self) -> bool {
        self.forces.is_some() || self.probes.is_some()
    }

    /// Pictures and files, once a step.
    fn write(&mut self, world: &World, flow: &mut Flow, fields: &Fields) -> Result<()> {
        if self.last[0].replace(flow.steps()) == Some(flow.steps()) {
            return Ok(());
        }
        if let Some(painter) = &mut self.painter {
            painter.paint(flow, fields)?;
        }
        if let Some(book) = &mut self.book {
            book.write(world, flow, fields)?;
        }
        Ok(())
    }

    /// Lines of tables, once a step.
    fn lines(&mut self, world: &World, flow: &mut Flow, fields: &Fields) -> Result<()> {
        if self.last[1].replace(flow.steps()) == Some(flow.steps()) {
            return Ok(());
        }
        if let Some(forces) = &mut self.forces {
            forces.write(world, flow)?;
        }
        self.probes.as_mut().map_or(Ok(()), |probes| probes.write(world, flow, fields))
    }
}

/// Whether the flow is one still; if not, which checkpoint was the last one where it was.
fn check(flow: &mut Flow, fields: &Fields, options: &Options, saved: Option<u64>) -> Result<()> {
    flow.fields_into(fields)?;
    flow.check(fields).map_err(|error| match (saved, &options.checkpoint) {
        (Some(step), Some(directory)) => Error::program(format!(
            "{error}; the last good checkpoint is that of step {step} in {}",
            directory.display()
        )),
        _ => error,
    })
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
