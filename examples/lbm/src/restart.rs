//! Start of runs, from the beginning or from a checkpoint.

use std::path::Path;

use zippy::{Error, Result, World};
use zippy_lbm::{Flow, Populations};
use zippy_store::checkpoint::{Checkpoint, Checkpoints};

use crate::options::Options;
use crate::prepared_case::PreparedCase;
use crate::setup::Setup;

/// Number of checkpoints to keep.
pub(crate) const KEPT_CHECKPOINTS: usize = 2;

/// Checkpoint that a run continues.
pub(crate) struct StartCheckpoint {
    pub checkpoint: Checkpoint,
    /// True if the setup differs from the checkpoint.
    pub is_changed: bool,
}

/// Setup and checkpoint of a run that starts.
pub(crate) struct Start {
    pub setup: Setup,
    /// Checkpoint that the run continues.
    pub checkpoint: Option<StartCheckpoint>,
    /// Lines to print about changes.
    pub notes: Vec<String>,
}

/// Setups and checkpoints of the requested runs. Collective.
///
/// # Errors
/// No checkpoint; an edited case that does not fit the checkpoint; checkpoints of another run in
/// the directory. The error is the same on every rank.
pub(crate) fn prepare_starts(world: &World, options: &Options) -> Result<Vec<Start>> {
    let starts = match &options.restart {
        Some(directory) => {
            let checkpoint = Checkpoints::new(directory, KEPT_CHECKPOINTS).latest(world)?;
            let none = || Error::program(format!("there is no checkpoint in {}", directory.display()));
            let checkpoint = checkpoint.ok_or_else(none)?;
            let saved: Setup = checkpoint.state()?;
            let (setup, notes) = world.agree("reading the setup of the checkpoint", options.apply_to(saved.clone()))?;
            let is_changed = setup != saved;
            vec![Start { setup, checkpoint: Some(StartCheckpoint { checkpoint, is_changed }), notes }]
        }
        None => {
            let setups = world.agree("reading the case", options.setups())?.into_iter();
            setups.map(|setup| Start { setup, checkpoint: None, notes: Vec::new() }).collect()
        }
    };
    if let Some(directory) = &options.checkpoint {
        check_no_other_run(world, directory, options.restart.as_deref())?;
    }
    Ok(starts)
}

/// Creates the flow at its start or from a checkpoint, and records its solid cells in the setup.
/// Collective.
///
/// # Errors
/// An invalid problem; solid cells that differ from the checkpoint. The error is the same on every
/// rank.
pub(crate) fn create_flow<'w>(
    world: &'w World,
    options: &Options,
    setup: &mut Setup,
    prepared: &PreparedCase,
    checkpoint: Option<&Checkpoint>,
) -> Result<Flow<'w>> {
    let problem = &prepared.case.problem;
    let Some(checkpoint) = checkpoint else {
        let flow = Flow::new(world, problem, &options.cut())?;
        let cells = flow.solid_fingerprint()?;
        setup.solid_cells = Some([cells.count, cells.hash]);
        return Ok(flow);
    };
    let fill = |populations: &Populations| match populations {
        Populations::Single(f) => checkpoint.fill(world, f),
        Populations::Half(f) => checkpoint.fill(world, f),
    };
    let flow = Flow::resumed(world, problem, &options.cut(), checkpoint.step(), fill)?;
    let cells = flow.solid_fingerprint()?;
    match setup.solid_cells.replace([cells.count, cells.hash]) {
        Some([count, hash]) if [count, hash] != [cells.count, cells.hash] => {
            let files: Vec<String> = prepared.files.iter().map(|file| file.display().to_string()).collect();
            let names = if files.is_empty() { String::new() } else { format!(" ({})", files.join(", ")) };
            let change =
                if count == cells.count { "at other positions".into() } else { format!("{} now", cells.count) };
            Err(Error::program(format!(
                "the solid{names} differs from the checkpoint of step {}: it had {count} solid cells, {change}; a continued run \
                 keeps its solid, so restore the old file, or start again without --restart",
                checkpoint.step()
            )))
        }
        _ => Ok(flow),
    }
}

/// True if two paths lead to the same directory.
fn is_same_directory(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

/// Returns an error if a directory has checkpoints of a run that this run does not continue,
/// because new checkpoints would replace them. `source` is the directory of the checkpoint that
/// this run continues. Collective.
fn check_no_other_run(world: &World, directory: &Path, source: Option<&Path>) -> Result<()> {
    let Some(found) = Checkpoints::new(directory, KEPT_CHECKPOINTS).latest(world)? else { return Ok(()) };
    let (setup, step) = (found.state::<Setup>(), found.step());
    if source.is_some_and(|source| is_same_directory(source, directory)) {
        return Ok(());
    }
    let case = setup.map_or("another program".into(), |setup| format!("the case {}", setup.case));
    let directory = directory.display();
    let advice = match source {
        None => format!("continue it with --restart {directory}, or name another directory"),
        Some(_) => "name another directory".into(),
    };
    Err(Error::program(format!(
        "--checkpoint {directory}: it has checkpoints of {case}, the latest of step {step}, which those of this run would \
         replace; {advice}"
    )))
}
