//! Generations in their places.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::blocks::{Reader, Sums};
use super::check::check;
use super::manifest::{MOST_BYTES, Manifest};
use super::names::{self, Generation, MANIFEST, STATE};
use crate::IoError;
use crate::store::open_regular;

/// The manifest of a generation in its place, checked by itself.
///
/// # Errors
/// It is damaged or not there.
pub fn manifest(directory: &Path, generation: Generation) -> Result<Manifest, IoError> {
    interpret(&manifest_text(directory)?, directory, generation)
}

/// The bytes of a manifest.
///
/// # Errors
/// It is not there, too long, or cannot be read.
pub fn manifest_text(directory: &Path) -> Result<Vec<u8>, IoError> {
    let path = directory.join(MANIFEST);
    let (file, length) = open_regular(&path)?;
    if length > MOST_BYTES {
        return Err(IoError::request(&path, format!("has {length} bytes; at most {MOST_BYTES} are read")));
    }
    let mut text = Vec::with_capacity(length as usize);
    let read = file.take(length).read_to_end(&mut text);
    read.map_err(|error| IoError::system(&path, "read", &error))?;
    Ok(text)
}

/// The manifest that these bytes are.
///
/// # Errors
/// It is damaged, or of another generation.
pub fn interpret(text: &[u8], directory: &Path, generation: Generation) -> Result<Manifest, IoError> {
    let manifest = Manifest::parse(text, directory, generation)?;
    let path = directory.join(MANIFEST);
    check(&manifest).map_err(|message| IoError::malformed(&path, 0, message))?;
    Ok(manifest)
}

/// Whether all files are there, with their lengths.
///
/// # Errors
/// What is missing.
pub fn check_lengths(directory: &Path, manifest: &Manifest) -> Result<(), IoError> {
    files(directory, manifest).try_for_each(|(path, sums)| Reader::open(path, sums, manifest.block_bytes).map(drop))
}

/// The files of a generation but its manifest.
pub fn files<'m>(directory: &Path, manifest: &'m Manifest) -> impl Iterator<Item = (PathBuf, &'m Sums)> {
    let of_ranks = manifest.files.iter().enumerate().map(|(rank, sums)| (directory.join(names::of_rank(rank)), sums));
    of_ranks.chain(manifest.state.iter().map(|sums| (directory.join(STATE), sums)))
}
