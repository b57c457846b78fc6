//! Runs that go on from checkpoints.

use std::path::Path;

use zippy::{Error, Result, World};
use zippy_io::checkpoint::{Checkpoint, Checkpoints};
use zippy_lbm::{Flow, Populations};

use crate::made::Made;
use crate::options::Options;
use crate::setup::Setup;

/// Checkpoints that are kept.
pub const KEPT: usize = 2;

/// A run to be.
pub struct Start {
    pub setup: Setup,
    /// The checkpoint that the run continues, and whether the problem has changed since.
    pub checkpoint: Option<(Checkpoint, bool)>,
    /// Lines for people.
    pub notes: Vec<String>,
}

/// The runs that the command line requests. Collective.
///
/// # Errors
/// The same on every rank: no checkpoint, an edited case that does not suit it, a directory for
/// checkpoints that has those of another run.
pub fn starts(world: &World, options: &Options) -> Result<Vec<Start>> {
    let starts = match &options.restart {
        Some(directory) => {
            let checkpoint = Checkpoints::new(directory, KEPT).latest(world)?;
            let none = || Error::program(format!("there is no checkpoint in {}", directory.display()));
            let checkpoint = checkpoint.ok_or_else(none)?;
            let saved: Setup = checkpoint.state()?;
            let (setup, notes) = world.agree("reading what goes on", options.changed(saved.clone()))?;
            let is_changed = setup != saved;
            vec![Start { setup, checkpoint: Some((checkpoint, is_changed)), notes }]
        }
        None => {
            let setups = world.agree("reading what flows", options.setups())?.into_iter();
            setups.map(|setup| Start { setup, checkpoint: None, notes: Vec::new() }).collect()
        }
    };
    if let Some(directory) = &options.checkpoint {
        refuse_others(world, directory, options.restart.as_deref())?;
    }
    Ok(starts)
}

/// The flow of a run, at its beginning or as a checkpoint has it; notes its solid cells in the
/// setup. Collective.
///
/// # Errors
/// An invalid problem; other solid cells than those of the checkpoint, the same on every rank.
pub fn flow<'w>(
    world: &'w World,
    options: &Options,
    setup: &mut Setup,
    made: &Made,
    checkpoint: Option<&Checkpoint>,
) -> Result<Flow<'w>> {
    let problem = &made.case.problem;
    let Some(checkpoint) = checkpoint else {
        let flow = Flow::new(world, problem, &options.cut())?;
        let cells = flow.solid_cells()?;
        setup.solid_cells = Some([cells.count, cells.hash]);
        return Ok(flow);
    };
    let fill = |populations: &Populations| match populations {
        Populations::Single(f) => checkpoint.fill(world, f),
        Populations::Half(f) => checkpoint.fill(world, f),
    };
    let flow = Flow::resumed(world, problem, &options.cut(), checkpoint.step(), fill)?;
    let cells = flow.solid_cells()?;
    match setup.solid_cells.replace([cells.count, cells.hash]) {
        Some([count, hash]) if [count, hash] != [cells.count, cells.hash] => {
            let files: Vec<String> = made.files.iter().map(|file| file.display().to_string()).collect();
            let of = if files.is_empty() { String::new() } else { format!(" ({})", files.join(", ")) };
            let others = if count == cells.count { "at other places".into() } else { format!("{} now", cells.count) };
            Err(Error::program(format!(
                "the solid{of} is another one than that of the checkpoint of step {}: it had {count} solid cells, {others}; a run \
                 that goes on keeps its shape, so bring the old file back, or begin anew without --restart",
                checkpoint.step()
            )))
        }
        _ => Ok(flow),
    }
}

/// Whether two paths lead to one directory.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Refuses a directory with checkpoints of a run that this run does not continue: new ones would
/// replace them. `own`: the directory of the checkpoint from which this run starts. Collective.
fn refuse_others(world: &World, directory: &Path, own: Option<&Path>) -> Result<()> {
    let Some(found) = Checkpoints::new(directory, KEPT).latest(world)? else { return Ok(()) };
    let (setup, step) = (found.state::<Setup>(), found.step());
    if own.is_some_and(|own| is_same(own, directory)) {
        return Ok(());
    }
    let case = setup.map_or("another program".into(), |setup| format!("the case {}", setup.case));
    let directory = directory.display();
    let advice = match own {
        None => format!("continue it with --restart {directory}, or name another directory"),
        Some(_) => "name another directory".into(),
    };
    Err(Error::program(format!(
        "--checkpoint {directory}: it has checkpoints of {case}, the latest of step {step}, which those of this run would \
         replace; {advice}"
    )))
}
