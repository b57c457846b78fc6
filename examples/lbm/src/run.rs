//! A run: steps, and what is done between them.

use std::io::IsTerminal;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use zippy::{Error, Result, World};
use zippy_io::checkpoint::{Checkpoints, Contents};
use zippy_lbm::Flow;
use zippy_lbm::cases::Case;

use crate::compare;
use crate::options::{Options, Setup};
use crate::report::Report;
use crate::say::say;

/// Checkpoints that are kept.
const KEPT: usize = 2;

/// A flow is steady when its velocities change by less than this part of its speed while the fluid goes its length.
const STEADY: f64 = 1e-5;

/// All runs that are asked for, one after the other. Collective.
pub fn all(world: &World, options: &Options) -> Result<()> {
    let runs = match &options.restart {
        Some(directory) => {
            let checkpoint = Checkpoints::new(directory, KEPT).latest(world)?;
            let none = || Error::program(format!("there is no checkpoint in {}", directory.display()));
            let checkpoint = checkpoint.ok_or_else(none)?;
            let setup = options.changed(checkpoint.state()?);
            vec![(setup, Some(checkpoint))]
        }
        None => options.setups().into_iter().map(|setup| (setup, None)).collect(),
    };
    let mut errors: Vec<(f64, f64)> = Vec::new();
    for (setup, checkpoint) in runs {
        let case = Case::named(&setup.case, &setup.choices())?;
        let mut flow = match &checkpoint {
            None => Flow::new(world, &case.problem, &options.cut())?,
            Some(checkpoint) => {
                let fill = |populations: &_| checkpoint.fill(world, populations);
                Flow::resumed(world, &case.problem, &options.cut(), checkpoint.step(), fill)?
            }
        };
        let report = one(world, options, &setup, &case, &mut flow)?;
        if let Some(error) = report.exact {
            errors.push((case.length, error));
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

/// One flow until its end.
fn one(world: &World, options: &Options, setup: &Setup, case: &Case, flow: &mut Flow) -> Result<Report> {
    let begun = flow.steps();
    let until = begun + options.steps.unwrap_or(if options.until_steady { 20 * case.steps } else { case.steps });
    let checkpoints = options.checkpoint.as_ref().map(|directory| Checkpoints::new(directory, KEPT));
    let look = options.until_steady.then_some(((case.length / case.speed).round() as u64).max(2));
    // A flow that has become unstable is found soon, and not by each step.
    let check = 1000;
    let bar = bar(world, until - begun);
    let fields = flow.fields()?;
    let mut before: Option<Vec<f32>> = None;
    let (mut steady, mut secs) = (false, 0.0);
    while flow.steps() < until && !steady {
        let next = |every: Option<u64>| every.map_or(until, |every| (flow.steps() / every + 1) * every);
        let stop = [options.every, look, Some(check)].into_iter().map(next).fold(until, u64::min);
        let start = Instant::now();
        while flow.steps() < stop {
            flow.run((stop - flow.steps()).min(100))?;
            bar.set_position(flow.steps() - begun);
        }
        world.gpu().wait()?;
        world.barrier()?;
        secs += start.elapsed().as_secs_f64();
        let cells = flow.fluid_cells() as f64 * (flow.steps() - begun) as f64;
        bar.set_message(format!("{:.1} MLUPS", cells / secs / 1e6));
        if look.is_some_and(|every| flow.steps().is_multiple_of(every)) {
            flow.fields_into(&fields)?;
            flow.check(&fields)?;
            let mut now = Vec::new();
            for chunk in fields.velocity.chunks() {
                now.append(&mut chunk.all().read()?);
            }
            let far = |before: &Vec<f32>| before.iter().zip(&now).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            let mut change = [before.as_ref().map_or(f32::INFINITY, far)];
            world.group().all_reduce(&mut change, |one, other| *one = one.max(*other))?;
            steady = f64::from(change[0]) < STEADY * case.speed;
            before = Some(now);
        } else if flow.steps().is_multiple_of(check) {
            flow.fields_into(&fields)?;
            flow.check(&fields)?;
        }
        if let (Some(checkpoints), true) = (&checkpoints, options.every.is_some_and(|n| flow.steps().is_multiple_of(n)))
        {
            save(world, checkpoints, setup, flow)?;
        }
    }
    bar.finish_and_clear();
    flow.fields_into(&fields)?;
    flow.check(&fields)?;
    let saved = flow.steps() > begun && options.every.is_some_and(|n| flow.steps().is_multiple_of(n));
    if let (Some(checkpoints), false) = (&checkpoints, saved) {
        save(world, checkpoints, setup, flow)?;
    }
    let mut report = Report::new(case, flow, world.size(), flow.steps() - begun, secs);
    report.steady = options.until_steady.then_some(steady);
    report.pulls = flow.pulls()?;
    report.mass = flow.mass()?;
    if let Some(exact) = &case.exact {
        report.exact = Some(compare::exact(world, case, flow, &fields, exact)?);
    }
    if options.compare.is_some() {
        report.ghia = Some(compare::ghia(world, case, flow, &fields)?);
    }
    if options.hash {
        report.hash = Some(flow.hash()?);
    }
    Ok(report)
}

fn save(world: &World, checkpoints: &Checkpoints, setup: &Setup, flow: &mut Flow) -> Result<()> {
    let steps = flow.steps();
    let contents = Contents::new().array(flow.populations()?).state(setup);
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
