//! [`tidy`]: removal of old generations after a save.
//!
//! A save reads no generation, so refused generations are marked by a file and do not count among
//! the kept ones. The loaded generation is known to be whole; it stays until `count` newer ones
//! have been written. The last save stays, too, because started saves may end in another order.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zippy::trace;
use zippy_files::{FileError, shown};

use super::names::{self, Generation};
use super::run::{Run, RunShare};
use super::stored::seems_whole;

/// Retention of generations, and the run that saves. Clones share the last loaded generation.
#[derive(Debug, Clone)]
pub(super) struct Retention {
    /// Number of whole generations to keep.
    pub count: usize,
    loaded: Arc<Mutex<Option<Loaded>>>,
    /// On rank 0, since the first save.
    run: Arc<Mutex<Option<RunShare>>>,
}

/// Last loaded generation, and the highest save number at that time.
#[derive(Debug, Clone, Copy)]
struct Loaded {
    generation: Generation,
    last: u64,
}

impl Retention {
    pub(super) fn new(count: usize) -> Self {
        Self { count, loaded: Arc::default(), run: Arc::default() }
    }

    fn loaded(&self) -> MutexGuard<'_, Option<Loaded>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This program's run in `parent`, held until the last clone is dropped. On rank 0.
    pub(super) fn run(&self, parent: &Path) -> Result<RunShare, FileError> {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        match &*run {
            Some(run) => Ok(run.clone()),
            None => Ok(run.insert(RunShare::new(parent)?).clone()),
        }
    }

    /// Records the loaded generation; `last` is the highest save number.
    pub(super) fn set_loaded(&self, generation: Generation, last: u64) {
        *self.loaded() = Some(Loaded { generation, last });
    }
}

/// Removes generations that the new generation `saved` makes superfluous: others of the same step,
/// and those older than the kept whole ones.
///
/// Also removes the leftovers of killed programs: every draft that this run does not write, because
/// no other run saves here. Entries that cannot be removed are reported and stay.
pub(super) fn tidy(run: &Run, retention: &Retention, saved: Generation) {
    let parent = run.parent();
    let warn = |path: &Path, error: &io::Error| trace::warn(&format!("{} cannot be removed: {error}", shown(path)));
    for generation in superfluous(parent, retention, saved) {
        let directory = parent.join(generation.name());
        if let Err(error) = discard(parent, &directory, generation) {
            warn(&directory, &error);
        }
    }
    for (number, leftover) in names::temporaries(parent).unwrap_or_default() {
        if !run.is_writing(number)
            && let Err(error) = names::remove(&leftover)
        {
            warn(&leftover, &error);
        }
    }
}

/// Generations to remove, except `saved` and the loaded generation.
fn superfluous(parent: &Path, retention: &Retention, saved: Generation) -> Vec<Generation> {
    let all = names::generations(parent).unwrap_or_default();
    let loaded = *retention.loaded();
    let (mut whole, mut since, mut superfluous) = (0, 0, Vec::new());
    for &generation in &all {
        let is_replaced = generation.step == saved.step && generation.number < saved.number;
        let is_loaded = loaded.is_some_and(|loaded| loaded.generation == generation) && since < retention.count;
        if generation != saved && !is_loaded && (is_replaced || whole >= retention.count) {
            superfluous.push(generation);
        } else if all.len() > retention.count
            && (generation == saved || seems_whole(&parent.join(generation.name()), generation))
        {
            whole += 1;
            since += usize::from(loaded.is_some_and(|loaded| generation.number > loaded.last));
        }
    }
    superfluous
}

/// Removes a generation. The rename comes first, so that no program finds a part of it under its
/// final name.
fn discard(parent: &Path, directory: &Path, generation: Generation) -> io::Result<()> {
    names::files(directory)?;
    names::remove(&generation.temporary(parent, |path| fs::rename(directory, path))?)
}
