//! [`Draft`]: a generation that is being written, in a directory of its own beside the others.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::blocks::{Sums, Writer};
use super::manifest::Manifest;
use super::names::{self, Generation, MANIFEST, STATE};
use crate::IoError;
use crate::atomic::sync_directory;

/// A rank's part of a generation that is not whole. Dropped, it takes away what this rank has written, and the directory
/// with the last rank's part.
pub struct Draft {
    directory: PathBuf,
    generation: Generation,
    rank: usize,
    /// The manifest, on rank 0. It is locked as long as the generation is being written: so who finds the directory knows
    /// whether its writer is alive.
    manifest: Option<File>,
    duty: Duty,
}

/// What cannot be done where a rename may be lost.
const UNSURE: &str = "make sure that this checkpoint outlives a crash, though it is whole and in its place";

/// What a rank takes away when it gives up.
#[derive(Clone, Copy, PartialEq)]
enum Duty {
    Own,
    Everything,
    Nothing,
}

impl Draft {
    /// A new one in `parent`, which is made where it is not there yet. On rank 0.
    ///
    /// # Errors
    /// What the operating system said.
    pub fn create(parent: &Path, step: u64) -> Result<Self, IoError> {
        let refused = |error: io::Error| IoError::system(parent, "write to the directory", &error);
        names::create_directories(parent).map_err(refused)?;
        let parent = fs::canonicalize(parent).map_err(refused)?;
        let placed = names::generations(&parent).map_err(refused)?.into_iter();
        let begun = names::temporaries(&parent).map_err(refused)?.into_iter().map(|(generation, _)| generation);
        let number =
            placed.chain(begun).map(|generation| generation.number).max().map_or(Some(1), |last| last.checked_add(1));
        let number =
            number.ok_or_else(|| IoError::request(&parent, "holds a generation of the last number there is"))?;
        let generation = Generation { number, step };
        let directory = generation.temporary(&parent, |path| fs::create_dir(path)).map_err(refused)?;
        let mut draft = Self { directory, generation, rank: 0, manifest: None, duty: Duty::Own };
        let path = draft.directory.join(MANIFEST);
        let manifest = File::create_new(&path).map_err(|error| IoError::system(&path, "write", &error))?;
        // Where there are no locks, leftovers stay.
        let _ = manifest.try_lock();
        draft.manifest = Some(manifest);
        Ok(draft)
    }

    /// The one that rank 0 has made.
    ///
    /// # Errors
    /// This rank does not see it.
    pub fn join(directory: &Path, rank: usize) -> Result<Self, IoError> {
        let name = directory.file_name().and_then(|name| name.to_str());
        let generation = name.and_then(Generation::of_temporary).filter(|_| directory.is_dir());
        let generation = generation.ok_or_else(|| {
            let message = format!(
                "rank 0 has made this directory, and rank {rank} does not find it; all ranks need the same files"
            );
            IoError::request(directory, message)
        })?;
        Ok(Self { directory: directory.to_path_buf(), generation, rank, manifest: None, duty: Duty::Own })
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// The file of this rank.
    ///
    /// # Errors
    /// What the operating system said.
    pub fn writer(&self, block_bytes: u64) -> Result<Writer, IoError> {
        Writer::create(&self.directory.join(names::of_rank(self.rank)), block_bytes)
    }

    /// All ranks have written their parts: from now on rank 0 alone takes away what fails.
    pub fn all_written(&mut self) {
        self.duty = if self.rank == 0 { Duty::Everything } else { Duty::Nothing };
    }

    /// The file of the state. On rank 0.
    ///
    /// # Errors
    /// What the operating system said.
    pub fn write_state(&self, state: &[u8], block_bytes: u64) -> Result<Sums, IoError> {
        let mut writer = Writer::create(&self.directory.join(STATE), block_bytes)?;
        writer.write(state)?;
        writer.finish()
    }

    /// Puts the generation into its place, all of it on the disk. On rank 0, when all ranks have written.
    ///
    /// # Errors
    /// What the operating system said; the manifest would be too long. The generation may be in its place all the same, if
    /// the system does not say that it will stay there; the error says so.
    pub fn put(mut self, manifest: &Manifest) -> Result<(), IoError> {
        let path = self.directory.join(MANIFEST);
        let refused = |error: io::Error| IoError::system(&path, "write", &error);
        let text = manifest.text().map_err(|message| IoError::request(&path, message))?;
        if let Some(file) = &mut self.manifest {
            file.write_all(&text).and_then(|()| file.sync_all()).map_err(refused)?;
        }
        sync_directory(&self.directory).map_err(refused)?;
        if cfg!(windows) {
            // It renames nothing that is open.
            self.manifest = None;
        }
        let parent = self.directory.parent().unwrap_or(Path::new("."));
        let place = parent.join(self.generation.name());
        let placed = fs::rename(&self.directory, &place);
        placed.map_err(|error| IoError::system(&place, "rename a whole checkpoint to it", &error))?;
        self.duty = Duty::Nothing;
        sync_directory(parent).map_err(|error| IoError::system(&place, UNSURE, &error))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.manifest = None;
        // What cannot be taken away is a leftover for the next save.
        match self.duty {
            Duty::Nothing => {}
            Duty::Everything => drop(names::remove(&self.directory)),
            Duty::Own => {
                let _ = fs::remove_file(self.directory.join(names::of_rank(self.rank)));
                if self.rank == 0 {
                    let _ = fs::remove_file(self.directory.join(MANIFEST));
                }
                let _ = fs::remove_dir(&self.directory);
            }
        }
    }
}
