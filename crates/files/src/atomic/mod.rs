//! Atomic file replacement: a file under its final name is always complete.
//!
//! An incomplete file has no name if the system supports this (`O_TMPFILE`), so a process that ends
//! leaves nothing. A replacement has a random name only during the rename. Otherwise, and for
//! directories, the name is random from the start. It contains the machine and the process: a later
//! save removes the files of ended processes of this machine, and files of other machines without a
//! write for a day. Locks do not prove that a writer lives: they do not reach all nodes, forbid
//! writes of other ranks on some file systems, and end before the file has its name. After a rename
//! the directory is synchronised, if the file system supports it.

mod durable;
mod leftovers;
mod shared;
mod unnamed;

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::FileError;
use durable::directory;
pub use durable::{sync_directory, sync_entry};
pub use leftovers::{random_directory, sweep};
use leftovers::{random_name, sweep_once};
pub use shared::{FileLocation, SharedFile, start_writing};

/// Maximum length of a chain of symbolic links; a longer chain is endless.
const MOST_LINKS: usize = 40;

/// Writes `bytes` to `path` atomically: readers see either the old file or the complete new one.
/// The bytes go to a temporary file in the same directory, which is then renamed. A replacement
/// keeps the mode and, if the system allows it, the owner. The target of a symbolic link is
/// replaced.
///
/// A killed process leaves its temporary file in the directory for removal by the next program that
/// writes there. On local Linux file systems, the temporary file has no name and leaves nothing,
/// except during the rename of a replacement.
///
/// # Errors
/// An operating system error, or `path` exists and is not a regular file. The temporary file is
/// removed. After a failed sync of the directory, the file has its final name, and the message says
/// so.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let target = write_unsynced(path, bytes)?;
    sync_entry(path, &target)
}

/// Checks that a file can be written, before its content is computed: creates and removes an empty
/// temporary file in its directory. An existing file does not change. Local.
///
/// # Errors
/// As [`write_whole`]: a missing directory, a directory without write permission, a name of
/// something other than a regular file.
pub fn check_output(path: &Path) -> Result<(), FileError> {
    PendingFile::create(path).map(drop)
}

/// [`write_whole`] without the sync of the directory, which [`sync_entry`] does. Returns the path
/// of the file after symbolic links.
///
/// # Errors
/// As [`write_whole`]; the file does not have its final name.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<PathBuf, FileError> {
    let pending = PendingFile::create(path)?;
    (&pending.temporary.file).write_all(bytes).map_err(|error| FileError::system(path, "write", &error))?;
    pending.temporary.file.sync_all().map_err(|error| FileError::system(path, "write", &error))?;
    let target = pending.target.clone();
    pending.put().map(|()| target)
}

/// File that is written in steps and gets its final name on completion. A drop before completion
/// removes the file.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    /// `path` after symbolic links.
    target: PathBuf,
    temporary: Temporary,
}

impl PendingFile {
    /// Creates the temporary file.
    ///
    /// # Errors
    /// An operating system error; `path` is no file name or names a file that is not regular.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        Self::from_temporary(path, Temporary::create)
    }

    /// [`Self::create`] with a temporary name, so that other processes can open the file.
    fn named(path: &Path) -> Result<Self, FileError> {
        Self::from_temporary(path, Temporary::named)
    }

    fn from_temporary(path: &Path, create: impl Fn(&Path) -> io::Result<Temporary>) -> Result<Self, FileError> {
        let (target, replaced) = target(path)?;
        sweep_once(directory(&target));
        let make = || {
            let temporary = create(directory(&target))?;
            if let Some(replaced) = &replaced {
                inherit(&temporary.file, replaced)?;
            }
            Ok(temporary)
        };
        let temporary = make().map_err(|error| FileError::system(path, "write", &error))?;
        Ok(Self { path: path.to_path_buf(), target, temporary })
    }

    /// Buffered handle for writing; the caller flushes it before [`Self::commit`].
    ///
    /// # Errors
    /// An operating system error.
    pub fn writer(&self) -> Result<BufWriter<File>, FileError> {
        let file = self.temporary.file.try_clone();
        file.map(BufWriter::new).map_err(|error| FileError::system(&self.path, "write", &error))
    }

    /// Overwrites bytes from byte `at`. A gap after the end of the file is filled with zeros.
    ///
    /// # Errors
    /// An operating system error.
    pub fn rewrite(&self, at: u64, bytes: &[u8]) -> Result<(), FileError> {
        write_at(&self.temporary.file, at, bytes).map_err(|error| FileError::system(&self.path, "write", &error))
    }

    /// Syncs the file, renames it to its final name, replacing an existing file, and syncs the
    /// directory.
    ///
    /// # Errors
    /// An operating system error; the temporary file is removed.
    pub fn commit(self) -> Result<(), FileError> {
        self.temporary.file.sync_all().map_err(|error| FileError::system(&self.path, "write", &error))?;
        let (path, target) = (self.path.clone(), self.target.clone());
        self.put()?;
        sync_entry(&path, &target)
    }

    /// Renames the file to its final name without any sync.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn put(self) -> Result<(), FileError> {
        let put = self.temporary.put(&self.target);
        put.map_err(|error| FileError::system(&self.path, "rename into place", &error))
    }
}

/// New file in the target directory, used by this process only.
#[derive(Debug)]
struct Temporary {
    file: File,
    /// Temporary name, removed with the file on drop; `None` for an unnamed file.
    name: Option<TempPath>,
}

impl Temporary {
    fn create(directory: &Path) -> io::Result<Self> {
        if let Some(file) = unnamed::create(directory) {
            return Ok(Self { file, name: None });
        }
        Self::named(directory)
    }

    fn named(directory: &Path) -> io::Result<Self> {
        // `create_new` fails for any existing entry, including links; `make_in` then tries another
        // name.
        let (file, name) = random_name().make_in(directory, |path| File::create_new(path))?.into_parts();
        Ok(Self { file, name: Some(name) })
    }

    /// Path for other processes; only for processes of this machine if the file has no name.
    fn path(&self) -> io::Result<PathBuf> {
        let unnamed = || unnamed::path_for_others(&self.file).ok_or_else(|| io::ErrorKind::NotFound.into());
        self.name.as_deref().map_or_else(unnamed, fs::canonicalize)
    }

    fn give_name(&mut self, directory: &Path) -> io::Result<()> {
        if self.name.is_none() {
            self.name =
                Some(random_name().make_in(directory, |path| unnamed::link(&self.file, path))?.into_temp_path());
        }
        Ok(())
    }

    fn put(self, target: &Path) -> io::Result<()> {
        let name = match self.name {
            Some(name) => name,
            None => match unnamed::link(&self.file, target) {
                // A link cannot replace an existing file, in contrast to a rename.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    random_name().make_in(directory(target), |path| unnamed::link(&self.file, path))?.into_temp_path()
                }
                linked => return linked,
            },
        };
        // Windows cannot rename an open file.
        drop(self.file);
        name.persist(target).map_err(|error| error.error)
    }
}

fn write_at(mut file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

/// Copies the mode of the replaced file and, if the system allows it, its owner.
fn inherit(file: &File, replaced: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        // Only root may change the owner; any owner may choose one of their groups. `fchown` may
        // change the mode, which is therefore set last.
        let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()))
            .or_else(|_| fchown(file, None, Some(replaced.gid())));
    }
    file.set_permissions(replaced.permissions())
}

/// File at the end of a path's symbolic links, with its metadata if it exists.
fn target(path: &Path) -> Result<(PathBuf, Option<Metadata>), FileError> {
    let refused = |error: io::Error| FileError::system(path, "write", &error);
    if path.file_name().is_none() {
        return Err(FileError::request(path, "is not the name of a file"));
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(FileError::request(path, "is a directory, not a file")),
        Ok(found) if !found.is_file() => {
            Err(FileError::request(path, "is no regular file, and only such a file can be replaced as a whole"))
        }
        Ok(found) => Ok((fs::canonicalize(path).map_err(refused)?, Some(found))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((resolve_dangling_links(path), None)),
        Err(error) => Err(refused(error)),
    }
}

/// End of a chain of symbolic links with a missing target.
pub fn resolve_dangling_links(path: &Path) -> PathBuf {
    let follow = |path: &PathBuf| fs::read_link(path).ok().map(|link| directory(path).join(link));
    let last = std::iter::successors(Some(path.to_path_buf()), follow).take(MOST_LINKS).last();
    last.unwrap_or_else(|| path.to_path_buf())
}

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;
