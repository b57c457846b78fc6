use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::check::check;
use super::manifest::{MOST_BYTES, Manifest};
use super::names::{self, Generation, MANIFEST, REFUSED, STATE};
use zippy_files::checksum::{ChecksumReader, Checksums};
use zippy_files::{FileError, open_regular};

fn load_manifest(directory: &Path, generation: Generation) -> Result<Manifest, FileError> {
    parse_manifest(&read_manifest(directory)?, directory, generation)
}

pub(super) fn read_manifest(directory: &Path) -> Result<Vec<u8>, FileError> {
    let path = directory.join(MANIFEST);
    let (file, length) = open_regular(&path)?;
    if length > MOST_BYTES {
        return Err(FileError::request(&path, format!("has {length} bytes; at most {MOST_BYTES} are read")));
    }
    let mut text = Vec::with_capacity(length as usize);
    let read = file.take(length).read_to_end(&mut text);
    read.map_err(|error| FileError::system(&path, "read", &error))?;
    Ok(text)
}

pub(super) fn parse_manifest(text: &[u8], directory: &Path, generation: Generation) -> Result<Manifest, FileError> {
    let manifest = Manifest::parse(text, directory, generation)?;
    let path = directory.join(MANIFEST);
    check(&manifest).map_err(|message| FileError::malformed(&path, 0, message))?;
    Ok(manifest)
}

pub(super) fn check_lengths(directory: &Path, manifest: &Manifest) -> Result<(), FileError> {
    files(directory, manifest)
        .try_for_each(|(path, sums)| ChecksumReader::open(path, sums, manifest.block_bytes).map(drop))
}

pub(super) fn files<'m>(directory: &Path, manifest: &'m Manifest) -> impl Iterator<Item = (PathBuf, &'m Checksums)> {
    let rank_files =
        manifest.files.iter().enumerate().map(|(rank, sums)| (directory.join(names::rank_file_name(rank)), sums));
    rank_files.chain(manifest.state.iter().map(|sums| (directory.join(STATE), sums)))
}

pub(super) fn read_state(directory: &Path, manifest: &Manifest) -> Result<Option<Vec<u8>>, FileError> {
    let Some(sums) = &manifest.state else { return Ok(None) };
    let mut reader = ChecksumReader::open(directory.join(STATE), sums, manifest.block_bytes)?;
    let mut bytes = vec![0; sums.bytes as usize];
    reader.read(0, &mut bytes)?;
    Ok(Some(bytes))
}

/// Marks a generation as damaged for this and other programs. Failures are ignored: a save into
/// such a directory fails, too.
pub(super) fn mark_damaged(directory: &Path, reason: &str) {
    let _ = File::create_new(directory.join(REFUSED)).and_then(|mut file| writeln!(file, "{reason}"));
}

pub(super) fn unmark_damaged(directory: &Path) {
    let _ = fs::remove_file(directory.join(REFUSED));
}

/// True if names, lengths and marks of earlier checks show no damage.
pub(super) fn seems_whole(directory: &Path, generation: Generation) -> bool {
    let is_marked = fs::symlink_metadata(directory.join(REFUSED)).is_ok();
    !is_marked && load_manifest(directory, generation).and_then(|found| check_lengths(directory, &found)).is_ok()
}
