//! [`tidy`]: what goes when a new generation is there.
//!
//! A save reads no generation. So generations that were refused are marked by a file, and do not
//! count among those that are kept. The loaded generation is known to be good, and stays until as
//! many as are kept have been written since. The last save stays, too, because started saves may
//! end in another order.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zippy::trace;

use super::names::{self, Generation};
use super::run::{Run, RunShare};
use super::stored::seems_whole;
use crate::{IoError, shown};

/// What a save keeps, and the run that saves. Clones have loaded the same.
#[derive(Debug, Clone)]
pub struct Keep {
    /// So many whole generations.
    pub count: usize,
    loaded: Arc<Mutex<Option<Loaded>>>,
    /// On rank 0, from the first save on.
    run: Arc<Mutex<Option<RunShare>>>,
}

/// The generation that was loaded last, and the highest number that there was then.
#[derive(Debug, Clone, Copy)]
struct Loaded {
    generation: Generation,
    last: u64,
}

impl Keep {
    pub fn new(count: usize) -> Self {
        Self { count, loaded: Arc::default(), run: Arc::default() }
    }

    fn loaded(&self) -> MutexGuard<'_, Option<Loaded>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run of this program in `parent`, held until the last clone is gone. On rank 0.
    ///
    /// # Errors
    /// Another program saves into the directory; what the operating system said.
    pub fn run(&self, parent: &Path) -> Result<RunShare, IoError> {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        match &*run {
            Some(run) => Ok(run.clone()),
            None => Ok(run.insert(RunShare::new(parent)?).clone()),
        }
    }

    /// A generation was loaded when `last` was the highest number. It is known to be good, as others are not: it stays until
    /// so many have been written since.
    pub fn set_loaded(&self, generation: Generation, last: u64) {
        *self.loaded() = Some(Loaded { generation, last });
    }
}

/// Removes what the generation that was just put into its place makes superfluous: others of its step, what is older than
/// as many whole ones as are kept, and what killed programs have left, which is all that is not whole and that the run, which
/// alone saves here, does not write. What cannot be removed is said and stays.
pub fn tidy(run: &Run, keep: &Keep, put: Generation) {
    let parent = run.parent();
    let said = |what: &Path, error: &io::Error| trace::warn(&format!("{} cannot be removed: {error}", shown(what)));
    for generation in superfluous(parent, keep, put) {
        let directory = parent.join(generation.name());
        if let Err(error) = discard(parent, &directory, generation) {
            said(&directory, &error);
        }
    }
    for (number, leftover) in names::temporaries(parent).unwrap_or_default() {
        if !run.is_writing(number)
            && let Err(error) = names::remove(&leftover)
        {
            said(&leftover, &error);
        }
    }
}

/// Neither what was just put into its place, though saves may end in another order than they began, nor what was loaded.
fn superfluous(parent: &Path, keep: &Keep, put: Generation) -> Vec<Generation> {
    let all = names::generations(parent).unwrap_or_default();
    let loaded = *keep.loaded();
    let (mut whole, mut since, mut superfluous) = (0, 0, Vec::new());
    for &generation in &all {
        let is_replaced = generation.step == put.step && generation.number < put.number;
        let is_loaded = loaded.is_some_and(|loaded| loaded.generation == generation) && since < keep.count;
        if generation != put && !is_loaded && (is_replaced || whole >= keep.count) {
            superfluous.push(generation);
        } else if all.len() > keep.count
            && (generation == put || seems_whole(&parent.join(generation.name()), generation))
        {
            whole += 1;
            since += usize::from(loaded.is_some_and(|loaded| generation.number > loaded.last));
        }
    }
    superfluous
}

/// Removes a generation. It first loses its name: nobody takes half of it for a damaged one.
fn discard(parent: &Path, directory: &Path, generation: Generation) -> io::Result<()> {
    names::files(directory)?;
    names::remove(&generation.temporary(parent, |path| fs::rename(directory, path))?)
}
