//! [`Draft`]: unfinished generation in a temporary directory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use super::names::{self, Generation, MANIFEST, STATE};
use super::run::RunShare;
use zippy_files::checksum::{ChecksumWriter, Checksums};
use zippy_files::{FileError, sync_directory};

/// One rank's part of an unfinished generation. Dropped, it removes this rank's file; the last rank
/// also removes the directory.
pub(super) struct Draft {
    directory: PathBuf,
    generation: Generation,
    rank: usize,
    /// Run that has reserved the save number, on rank 0.
    run: Option<RunShare>,
    cleanup: Cleanup,
}

/// Action in the error of a failed directory sync after the rename.
const SYNC_ACTION: &str = "make sure that this checkpoint outlives a crash, though it is whole and in its place";

/// Files that a rank removes after a failed save.
#[derive(Clone, Copy, PartialEq)]
enum Cleanup {
    RankFile,
    Everything,
    Nothing,
}

impl Draft {
    /// Creates the directory of a draft. On rank 0. Another holder of the directory is an error.
    pub(super) fn create(run: RunShare, step: u64) -> Result<Self, FileError> {
        run.check()?;
        let (number, directory) = run.reserve_number()?;
        Ok(Self {
            directory,
            generation: Generation { number, step },
            rank: 0,
            run: Some(run),
            cleanup: Cleanup::RankFile,
        })
    }

    /// Opens the draft of rank 0; an error if this rank does not see the directory.
    pub(super) fn join(directory: &Path, rank: usize, step: u64) -> Result<Self, FileError> {
        let name = directory.file_name().and_then(|name| name.to_str());
        let number = name.and_then(names::parse_draft).filter(|_| directory.is_dir());
        let number = number.ok_or_else(|| {
            let message = format!(
                "rank 0 has made this directory, and rank {rank} does not find it; all ranks need the same files"
            );
            FileError::request(directory, message)
        })?;
        let generation = Generation { number, step };
        Ok(Self { directory: directory.to_path_buf(), generation, rank, run: None, cleanup: Cleanup::RankFile })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn generation(&self) -> Generation {
        self.generation
    }

    pub(super) fn writer(&self, block_bytes: u64) -> Result<ChecksumWriter, FileError> {
        ChecksumWriter::create(&self.directory.join(names::rank_file_name(self.rank)), block_bytes)
    }

    /// Records that all ranks have written their parts: after a later failure rank 0 alone removes
    /// the draft.
    pub(super) fn all_written(&mut self) {
        self.cleanup = if self.rank == 0 { Cleanup::Everything } else { Cleanup::Nothing };
    }

    /// Writes the file of the state. On rank 0.
    pub(super) fn write_state(&self, state: &[u8], block_bytes: u64) -> Result<Checksums, FileError> {
        let mut writer = ChecksumWriter::create(&self.directory.join(STATE), block_bytes)?;
        writer.write(state)?;
        writer.finish()
    }

    /// Syncs the generation and renames its directory to its final name. On rank 0, after all ranks
    /// have written.
    ///
    /// If only the final sync of the parent directory fails, the generation has its final name and
    /// the error says so.
    pub(super) fn commit(mut self, manifest: &Manifest) -> Result<(), FileError> {
        let path = self.directory.join(MANIFEST);
        let refused = |error: io::Error| FileError::system(&path, "write", &error);
        let text = manifest.text().map_err(|message| FileError::request(&path, message))?;
        let write = |mut file: File| file.write_all(&text).and_then(|()| file.sync_all());
        File::create_new(&path).and_then(write).map_err(refused)?;
        sync_directory(&self.directory).map_err(refused)?;
        // Without file locks another program may have taken the directory over.
        self.run.as_ref().map_or(Ok(()), |run| run.check())?;
        let parent = self.directory.parent().unwrap_or(Path::new("."));
        let path = parent.join(self.generation.name());
        let renamed = fs::rename(&self.directory, &path);
        renamed.map_err(|error| FileError::system(&path, "rename a whole checkpoint to it", &error))?;
        self.cleanup = Cleanup::Nothing;
        sync_directory(parent).map_err(|error| FileError::system(&path, SYNC_ACTION, &error))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // The next save removes the remaining files.
        match self.cleanup {
            Cleanup::Nothing => {}
            Cleanup::Everything => drop(names::remove(&self.directory)),
            Cleanup::RankFile => {
                let _ = fs::remove_file(self.directory.join(names::rank_file_name(self.rank)));
                let _ = fs::remove_dir(&self.directory);
            }
        }
        if let Some(run) = &self.run {
            run.release_number(self.generation.number);
        }
    }
}
