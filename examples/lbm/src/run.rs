//! All requested runs, in sequence.

use std::sync::Arc;

use zippy::{Result, World};

use crate::flow_run::{FlowRun, RunInputs};
use crate::options::Options;
use crate::output_paths;
use crate::prepared_case::PreparedCase;
use crate::report::Report;
use crate::restart::{self, Start};
use crate::say::{complain, say};
use crate::view::Link;

/// Largest error of a run at a resolution, in cells per length of the case.
struct ErrorAtResolution {
    cells: f64,
    error: f64,
}

/// Performs all requested runs in sequence. `link` leads to the window that shows them. Collective.
pub(crate) fn run_all(world: &World, options: &Options, link: Option<&Arc<Link>>) -> Result<()> {
    output_paths::check(world, options)?;
    let mut errors = Vec::new();
    if let Some(note) = options.ambiguity() {
        print_on_rank_0(world, "note", &note);
    }
    for start in restart::prepare_starts(world, options)? {
        let (cells, report) = run_one(world, options, start, link)?;
        errors.extend(report.exact_error.map(|error| ErrorAtResolution { cells, error }));
        if world.rank() == 0 {
            say(if options.json { report.json() } else { report.text() })?;
        }
    }
    if world.rank() == 0 { report_convergence(options, &errors) } else { Ok(()) }
}

fn print_on_rank_0(world: &World, kind: &str, text: &str) {
    if world.rank() == 0 {
        complain(format_args!("{kind}: {text}"));
    }
}

/// Performs one run. Returns the length of the case in cells, and the report. Collective.
fn run_one(world: &World, options: &Options, start: Start, link: Option<&Arc<Link>>) -> Result<(f64, Report)> {
    let Start { mut setup, checkpoint, notes } = start;
    notes.iter().for_each(|note| print_on_rank_0(world, "note", note));
    let mut prepared = PreparedCase::new(world, &setup)?;
    // The exact solution holds only for an unchanged problem.
    if checkpoint.as_ref().is_some_and(|found| found.is_changed) {
        prepared.case.exact_velocity = None;
    }
    let checkpoint = checkpoint.as_ref().map(|found| &found.checkpoint);
    let flow = restart::create_flow(world, options, &mut setup, &prepared, checkpoint)?;
    for (body, _) in flow.surface_cells().iter().enumerate().filter(|(_, cells)| **cells == 0) {
        prepared
            .warnings
            .push(format!("bodies[{body}] touches no fluid: it contains no cell centre, or is inside other solids"));
    }
    // Before the steps, which may take hours or fail.
    let warnings = prepared.case.warnings().into_iter().chain(prepared.warnings.clone());
    warnings.for_each(|warning| print_on_rank_0(world, "warning", &warning));
    let cells = prepared.case.length;
    let report = FlowRun::start(world, options, RunInputs { setup, prepared, flow }, link)?.run()?;
    Ok((cells, report))
}

/// Prints the order of convergence between consecutive resolutions.
fn report_convergence(options: &Options, errors: &[ErrorAtResolution]) -> Result<()> {
    for pair in errors.windows(2) {
        let [coarse, fine] = [&pair[0], &pair[1]];
        if fine.cells == coarse.cells {
            continue;
        }
        let order = (coarse.error / fine.error).ln() / (fine.cells / coarse.cells).ln();
        if options.json {
            say(serde_json::json!({ "n": [coarse.cells, fine.cells], "order": order }))?;
        } else {
            let (coarse, fine) = (coarse.cells, fine.cells);
            say(format_args!("from n = {coarse} to {fine} the error falls with order {order:.2}"))?;
        }
    }
    Ok(())
}
