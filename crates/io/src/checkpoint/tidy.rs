//! [`tidy`]: what goes when a new generation is there.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use zippy::trace;

use super::names::{self, Generation, MANIFEST};
use super::stored::{check_lengths, manifest};
use crate::shown;

/// Removes what the generation that was just put into its place makes superfluous: others of its step, what is older than
/// `keep` whole ones, and what killed programs have left. What cannot be removed is said and stays.
pub fn tidy(parent: &Path, keep: usize, put: Generation) {
    let said = |what: &Path, error: &io::Error| trace::warn(&format!("{} cannot be removed: {error}", shown(what)));
    let mut whole = 0;
    for generation in names::generations(parent).unwrap_or_default() {
        let directory = parent.join(generation.name());
        let is_replaced = generation.step == put.step && generation.number < put.number;
        if is_replaced || whole >= keep {
            if let Err(error) = discard(parent, &directory, generation) {
                said(&directory, &error);
            }
        } else if manifest(&directory, generation).and_then(|found| check_lengths(&directory, &found)).is_ok() {
            whole += 1;
        }
    }
    for (_, leftover) in names::temporaries(parent).unwrap_or_default() {
        if is_left(&leftover)
            && let Err(error) = names::remove(&leftover)
        {
            said(&leftover, &error);
        }
    }
}

/// Removes a generation. It first loses its name: nobody takes half of it for a damaged one.
fn discard(parent: &Path, directory: &Path, generation: Generation) -> io::Result<()> {
    names::files(directory)?;
    names::remove(&generation.temporary(parent, |path| fs::rename(directory, path))?)
}

/// Whether nobody writes a draft any more.
fn is_left(directory: &Path) -> bool {
    match File::open(directory.join(MANIFEST)) {
        Ok(manifest) => !matches!(manifest.try_lock(), Err(TryLockError::WouldBlock | TryLockError::Error(_))),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
