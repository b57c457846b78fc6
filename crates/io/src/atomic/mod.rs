//! Files that are either whole or not there.
//!
//! Until a file is whole it has no name where the system supports this (`O_TMPFILE`), so a process
//! that ends leaves nothing. A replacement takes a random name for a moment and is renamed. Where
//! files without names do not exist, and for directories, the name is random from the beginning. It
//! contains the machine and the process, so a later save removes names of processes of this machine
//! that are gone, and names of other machines without a write for a day. Locks are no proof that a
//! writer lives: they do not reach all nodes, forbid writes of other ranks on some file systems,
//! and end before the file has its name. After a renaming the directory is synchronised, too; file
//! systems that cannot do that are trusted.

mod collective;
mod durable;
mod leftovers;
mod shared;
mod unnamed;

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::IoError;
pub use collective::CollectiveFile;
use durable::directory;
pub use durable::sync_directory;
pub use durable::sync_entry;
use leftovers::random;
#[cfg(feature = "zarr")]
pub use leftovers::random_directory;
pub use leftovers::{sweep, sweep_once};
pub use shared::SharedFile;
pub use shared::start_writing;

/// More links to links than this lead nowhere.
const MOST_LINKS: usize = 40;

/// Writes `bytes` to `path` so that nobody ever sees half a file: into a temporary file in the same directory first, which
/// then takes the name. An existing file is replaced and hands on its mode, and its owner where the system allows it; of a
/// symbolic link, what it leads to is replaced. A process that is killed meanwhile leaves its temporary file, but where the
/// file system has files without names (Linux, on local ones): there only in the moment in which it replaces another one. A
/// later program that writes into the directory removes it.
///
/// # Errors
/// What the operating system said; there is something of that name, but no regular file. The temporary file is removed. Where
/// the file is in its place and only its name could not be brought to the disk, the message says so.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), IoError> {
    let target = place_whole(path, bytes)?;
    sync_entry(path, &target)
}

/// Checks that a file can be written, before the work that its content takes: a file without
/// content is made in the folder, and goes at once. An existing file stays as it is. Local to the
/// calling rank.
///
/// # Errors
/// As [`write_whole`]: a missing folder, one in which nothing can be written, a name that is no
/// regular file's.
pub fn check_output(path: &Path) -> Result<(), IoError> {
    Pending::create(path).map(drop)
}

/// [`write_whole`] up to the moment when the file is in its place: where it is. [`sync_entry`] does the rest.
///
/// # Errors
/// As [`write_whole`]; the file is not in its place.
pub fn place_whole(path: &Path, bytes: &[u8]) -> Result<PathBuf, IoError> {
    let pending = Pending::create(path)?;
    (&pending.temporary.file).write_all(bytes).map_err(|error| IoError::system(path, "write", &error))?;
    pending.temporary.file.sync_all().map_err(|error| IoError::system(path, "write", &error))?;
    let target = pending.target.clone();
    pending.put().map(|()| target)
}

/// A file that is written bit by bit and appears under its name when it is whole. Dropped before, it leaves nothing behind.
#[derive(Debug)]
pub(super) struct Pending {
    path: PathBuf,
    /// Where `path` leads to.
    target: PathBuf,
    temporary: Temporary,
}

impl Pending {
    /// # Errors
    /// What the operating system said; the path names no file, or one that is not regular.
    pub fn create(path: &Path) -> Result<Self, IoError> {
        Self::made(path, Temporary::create)
    }

    /// [`Self::create`] with a name from the beginning, by which others can open the file.
    ///
    /// # Errors
    /// As [`Self::create`].
    fn named(path: &Path) -> Result<Self, IoError> {
        Self::made(path, Temporary::named)
    }

    fn made(path: &Path, create: impl Fn(&Path) -> io::Result<Temporary>) -> Result<Self, IoError> {
        let (target, replaced) = target(path)?;
        sweep_once(directory(&target));
        let make = || {
            let temporary = create(directory(&target))?;
            if let Some(replaced) = &replaced {
                inherit(&temporary.file, replaced)?;
            }
            Ok(temporary)
        };
        let temporary = make().map_err(|error| IoError::system(path, "write", &error))?;
        Ok(Self { path: path.to_path_buf(), target, temporary })
    }

    /// A handle to write through; what it buffers must be flushed before [`Self::commit`].
    ///
    /// # Errors
    /// What the operating system said.
    pub fn writer(&self) -> Result<BufWriter<File>, IoError> {
        let file = self.temporary.file.try_clone();
        file.map(BufWriter::new).map_err(|error| IoError::system(&self.path, "write", &error))
    }

    /// Writes over what has been written, from byte `at` on; behind the end after zeros.
    ///
    /// # Errors
    /// What the operating system said.
    pub fn rewrite(&self, at: u64, bytes: &[u8]) -> Result<(), IoError> {
        write_at(&self.temporary.file, at, bytes).map_err(|error| IoError::system(&self.path, "write", &error))
    }

    /// Puts the file into its place when all of it is on the disk, and brings its name there, too; an existing one is replaced.
    ///
    /// # Errors
    /// What the operating system said; the temporary file is removed.
    pub fn commit(self) -> Result<(), IoError> {
        self.temporary.file.sync_all().map_err(|error| IoError::system(&self.path, "write", &error))?;
        let (path, target) = (self.path.clone(), self.target.clone());
        self.put()?;
        sync_entry(&path, &target)
    }

    /// [`Self::commit`] without the disk, which may take its time.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn put(self) -> Result<(), IoError> {
        let put = self.temporary.put(&self.target);
        put.map_err(|error| IoError::system(&self.path, "rename into place", &error))
    }
}

/// A file that nobody else writes to, in the directory where it will stay.
#[derive(Debug)]
struct Temporary {
    file: File,
    /// Its name, which goes with it; none where the system takes the file away itself.
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
        // Takes another name where there is anything of that name, a link included.
        let (file, name) = random().make_in(directory, |path| File::create_new(path))?.into_parts();
        Ok(Self { file, name: Some(name) })
    }

    /// By which other processes can open it: those of this machine alone, where it has no name.
    fn path(&self) -> io::Result<PathBuf> {
        let unnamed = || unnamed::path_for_others(&self.file).ok_or_else(|| io::ErrorKind::NotFound.into());
        self.name.as_deref().map_or_else(unnamed, fs::canonicalize)
    }

    /// Gives it a name, by which others can open it.
    fn give_name(&mut self, directory: &Path) -> io::Result<()> {
        if self.name.is_none() {
            self.name = Some(random().make_in(directory, |path| unnamed::link(&self.file, path))?.into_temp_path());
        }
        Ok(())
    }

    fn put(self, target: &Path) -> io::Result<()> {
        let name = match self.name {
            Some(name) => name,
            None => match unnamed::link(&self.file, target) {
                // A new name cannot replace an old one, but be renamed to it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    random().make_in(directory(target), |path| unnamed::link(&self.file, path))?.into_temp_path()
                }
                linked => return linked,
            },
        };
        // Windows renames no open file.
        drop(self.file);
        name.persist(target).map_err(|error| error.error)
    }
}

fn write_at(mut file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

/// Gives a file the mode of another one and, as far as that is allowed, its owner.
fn inherit(file: &File, from: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        // Only some may give files away; a group of one's own anybody may choose. The mode last: this may change it.
        let _ = fchown(file, Some(from.uid()), Some(from.gid())).or_else(|_| fchown(file, None, Some(from.gid())));
    }
    file.set_permissions(from.permissions())
}

/// What a path leads to, and what is there already.
fn target(path: &Path) -> Result<(PathBuf, Option<Metadata>), IoError> {
    let refused = |error: io::Error| IoError::system(path, "write", &error);
    if path.file_name().is_none() {
        return Err(IoError::request(path, "is not the name of a file"));
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(IoError::request(path, "is a directory, not a file")),
        Ok(found) if !found.is_file() => {
            Err(IoError::request(path, "is no regular file, and only such a file can be replaced as a whole"))
        }
        Ok(found) => Ok((fs::canonicalize(path).map_err(refused)?, Some(found))),
        // Nothing there, or links that lead to nothing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((followed(path), None)),
        Err(error) => Err(refused(error)),
    }
}

/// Where links lead that lead to nothing.
pub fn followed(path: &Path) -> PathBuf {
    let follow = |path: &PathBuf| fs::read_link(path).ok().map(|link| directory(path).join(link));
    let last = std::iter::successors(Some(path.to_path_buf()), follow).take(MOST_LINKS).last();
    last.unwrap_or_else(|| path.to_path_buf())
}

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;
