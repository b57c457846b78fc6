//! [`Draft`]: a generation that is being written, in a directory of its own beside the others.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::blocks::{Sums, Writer};
use super::manifest::Manifest;
use super::names::{self, Generation, MANIFEST, STATE};
use super::run::RunShare;
use crate::IoError;
use crate::atomic::sync_directory;

/// A rank's part of a generation that is not whole. Dropped, it takes away what this rank has written, and the directory
/// with the last rank's part.
pub struct Draft {
    directory: PathBuf,
    generation: Generation,
    rank: usize,
    /// The run that has the number, on rank 0.
    run: Option<RunShare>,
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
    /// A new one in the directory of a run. On rank 0.
    ///
    /// # Errors
    /// Another program has taken the directory over; what the operating system said.
    pub fn create(run: RunShare, step: u64) -> Result<Self, IoError> {
        run.check()?;
        let (number, directory) = run.take_number()?;
        Ok(Self { directory, generation: Generation { number, step }, rank: 0, run: Some(run), duty: Duty::Own })
    }

    /// The one of a step that rank 0 has made.
    ///
    /// # Errors
    /// This rank does not see it.
    pub fn join(directory: &Path, rank: usize, step: u64) -> Result<Self, IoError> {
        let name = directory.file_name().and_then(|name| name.to_str());
        let number = name.and_then(names::number_of_draft).filter(|_| directory.is_dir());
        let number = number.ok_or_else(|| {
            let message = format!(
                "rank 0 has made this directory, and rank {rank} does not find it; all ranks need the same files"
            );
            IoError::request(directory, message)
        })?;
        let generation = Generation { number, step };
        Ok(Self { directory: directory.to_path_buf(), generation, rank, run: None, duty: Duty::Own })
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
        let write = |mut file: File| file.write_all(&text).and_then(|()| file.sync_all());
        File::create_new(&path).and_then(write).map_err(refused)?;
        sync_directory(&self.directory).map_err(refused)?;
        // The directory may be another program's by now, where only a time holds it.
        self.run.as_ref().map_or(Ok(()), |run| run.check())?;
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
        // What cannot be taken away is a leftover for the next save.
        match self.duty {
            Duty::Nothing => {}
            Duty::Everything => drop(names::remove(&self.directory)),
            Duty::Own => {
                let _ = fs::remove_file(self.directory.join(names::of_rank(self.rank)));
                let _ = fs::remove_dir(&self.directory);
            }
        }
        if let Some(run) = &self.run {
            run.give_back(self.generation.number);
        }
    }
}
