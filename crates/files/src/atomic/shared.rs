//! [`SharedFile`]: a file that several processes write.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{PendingFile, directory, sweep, write_at};
use crate::{FileError, process, shown};

/// Minimum size of a write, in bytes, that requests write-back by the system.
#[cfg(target_os = "linux")]
const WRITEBACK_BYTES: usize = 1 << 20;

/// File that several ranks write: threads or processes, on one node or on several nodes with a
/// shared file system. It gets its final name on completion.
///
/// One rank calls [`Self::create`] and sends [`Self::temporary`] to the others, which
/// [`Self::open`] the file. Each rank writes its own bytes with [`Self::write_at`] and calls
/// [`Self::finish`]. After all ranks have finished without an error, the creating rank calls
/// [`Self::commit`]. No call waits for another rank.
///
/// A drop before `commit` on the creating rank removes the file. A killed process leaves the
/// temporary file; a file under the final name does not change.
///
/// ```
/// use zippy_files::SharedFile;
///
/// let path = std::env::temp_dir().join(format!("zippy-doc-{}.bin", std::process::id()));
/// let mut mine = SharedFile::create(&path, 8)?;
/// let mut another = SharedFile::open(mine.temporary())?; // on another rank
/// another.write_at(4, b"mesh")?;
/// mine.write_at(0, b"one ")?;
/// another.finish()?;
/// mine.finish()?;
/// assert!(!path.exists());
/// mine.commit()?;
/// assert_eq!(std::fs::read(&path).unwrap(), b"one mesh");
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), zippy_files::FileError>(())
/// ```
#[derive(Debug)]
pub struct SharedFile {
    /// Path in errors: the final path, or the temporary path if only that is known.
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    length: u64,
    created: Option<Created>,
}

/// Location by which other ranks open a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct FileLocation {
    /// Path of the file until [`SharedFile::commit`].
    pub path: PathBuf,
    machine: String,
    /// Device and inode.
    number: Option<(u64, u64)>,
    /// True if `path` is a name in a directory, not a descriptor of a process.
    pub is_named: bool,
}

#[cfg(unix)]
fn number(file: &File) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn number(_: &File) -> Option<(u64, u64)> {
    None
}

/// State on the rank that created the file.
#[derive(Debug)]
struct Created {
    pending: PendingFile,
    /// Final permissions if they exclude the owner's writes, which are allowed until `commit`.
    permissions: Option<Permissions>,
}

impl SharedFile {
    /// Creates a file of `length` zero bytes under a temporary name in the directory of `path`;
    /// [`commit`](Self::commit) renames it to `path`. Like [`write_whole`](crate::write_whole),
    /// follows symbolic links and replaces an existing file with the same mode. Called by one rank.
    ///
    /// # Errors
    /// An operating system error, or `path` exists and is not a regular file.
    pub fn create(path: impl AsRef<Path>, length: u64) -> Result<Self, FileError> {
        Self::from_temporary(path.as_ref(), PendingFile::named, length)
    }

    /// [`Self::create`] without a name, if the system has such files. The file ends with the last
    /// process that has it open.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_unnamed(path: &Path, length: u64) -> Result<Self, FileError> {
        Self::from_temporary(path, PendingFile::create, length)
    }

    fn from_temporary(
        path: &Path,
        create: fn(&Path) -> Result<PendingFile, FileError>,
        length: u64,
    ) -> Result<Self, FileError> {
        let pending = create(path)?;
        let refused = |error| FileError::system(path, "write", &error);
        let file = pending.temporary.file.try_clone().map_err(refused)?;
        file.set_len(length).map_err(refused)?;
        let permissions = let_owner_write(&file).map_err(refused)?;
        let temporary = pending.temporary.path().map_err(refused)?;
        Ok(Self { path: path.to_path_buf(), temporary, file, length, created: Some(Created { pending, permissions }) })
    }

    /// Opens the file of another rank by that rank's [`Self::temporary`].
    ///
    /// # Errors
    /// An operating system error, for example for a dropped file or a file that is not visible on
    /// this node.
    pub fn open(temporary: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = temporary.as_ref();
        let refused = |error| FileError::system(path, "open", &error);
        if !fs::metadata(path).map_err(refused)?.is_file() {
            return Err(FileError::request(path, "is not a regular file"));
        }
        let file = OpenOptions::new().write(true).open(path).map_err(refused)?;
        let length = file.metadata().map_err(refused)?.len();
        Ok(Self { path: path.to_path_buf(), temporary: path.to_path_buf(), file, length, created: None })
    }

    /// Removes the temporary files of killed programs from the file's directory.
    pub fn sweep_directory(&self) {
        if let Some(created) = &self.created {
            sweep(directory(&created.pending.target));
        }
    }

    /// Opens another rank's file if it is on this machine and has the same device and inode.
    pub fn open_same(location: &FileLocation) -> Option<Self> {
        let opened = (location.machine == process::machine()).then(|| Self::open(&location.path).ok()).flatten()?;
        (location.number == number(&opened.file)).then_some(opened)
    }

    /// Location by which other ranks open the file.
    pub fn location(&self) -> FileLocation {
        let machine = process::machine().to_string();
        FileLocation { path: self.temporary.clone(), machine, number: number(&self.file), is_named: self.is_named() }
    }

    fn is_named(&self) -> bool {
        self.created.as_ref().is_none_or(|created| created.pending.temporary.name.is_some())
    }

    /// Gives the file a temporary name for other processes, on the rank that created it.
    ///
    /// # Errors
    /// An operating system error.
    pub fn give_name(&mut self) -> Result<(), FileError> {
        let refused = |error| FileError::system(&self.path, "write", &error);
        if let Some(Created { pending, .. }) = &mut self.created {
            pending.temporary.give_name(directory(&pending.target)).map_err(refused)?;
            self.temporary = pending.temporary.path().map_err(refused)?;
        }
        Ok(())
    }

    /// Replaces the path in errors.
    pub fn with_error_path(self, path: &Path) -> Self {
        Self { path: path.to_path_buf(), ..self }
    }

    /// Absolute path of the file until `commit`.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Writes bytes at byte `offset`. Concurrent writes of ranks must not overlap.
    ///
    /// # Errors
    /// Bytes beyond the end of the file; an operating system error.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        if offset.checked_add(bytes.len() as u64).is_none_or(|end| end > self.length) {
            let message = format!("{} bytes from byte {offset} on do not fit its {}", bytes.len(), self.length);
            return Err(FileError::request(&self.path, message));
        }
        write_at(&self.file, offset, bytes).map_err(|error| FileError::system(&self.path, "write", &error))?;
        start_writing(&self.file, offset, bytes.len());
        Ok(())
    }

    /// Waits until this rank's writes are on the disk. Every rank calls it after its last write.
    ///
    /// # Errors
    /// An operating system error. Some file systems report a full disk only here.
    pub fn finish(&mut self) -> Result<(), FileError> {
        self.file.sync_all().map_err(|error| FileError::system(&self.path, "write", &error))
    }

    /// Renames the file to its final name and replaces an existing file. Called by the rank that
    /// created the file, after all ranks have finished.
    ///
    /// # Errors
    /// This rank did not create the file; an operating system error. The temporary file is removed.
    /// After a failed sync of the directory, the file has its final name, and the message says so.
    pub fn commit(self) -> Result<(), FileError> {
        let Some(Created { pending, permissions }) = self.created else {
            let message =
                format!("was not created by this rank; the rank that created {} commits it", shown(&self.temporary));
            return Err(FileError::request(&self.path, message));
        };
        if let Some(permissions) = permissions {
            let set = self.file.set_permissions(permissions);
            set.map_err(|error| FileError::system(&self.path, "write", &error))?;
        }
        drop(self.file);
        pending.commit()
    }
}

/// Hints the system to write a large number of new bytes to the disk, for a short final sync.
#[cfg(target_os = "linux")]
pub fn start_writing(file: &File, offset: u64, bytes: usize) {
    if let Some(length) = std::num::NonZeroU64::new(bytes as u64).filter(|_| bytes >= WRITEBACK_BYTES) {
        let _ = rustix::fs::fadvise(file, offset, Some(length), rustix::fs::Advice::DontNeed);
    }
}

#[cfg(not(target_os = "linux"))]
pub fn start_writing(_: &File, _: u64, _: usize) {}

/// Lets the owner write to a file, so that other ranks can open it although the replaced file is
/// read-only. Returns the previous permissions after a change.
#[cfg(unix)]
fn let_owner_write(file: &File) -> io::Result<Option<Permissions>> {
    use std::os::unix::fs::PermissionsExt;
    let found = file.metadata()?.permissions();
    if found.mode() & 0o200 != 0 {
        return Ok(None);
    }
    file.set_permissions(Permissions::from_mode(found.mode() | 0o200))?;
    Ok(Some(found))
}

#[cfg(not(unix))]
fn let_owner_write(file: &File) -> io::Result<Option<Permissions>> {
    let found = file.metadata()?.permissions();
    if !found.readonly() {
        return Ok(None);
    }
    let mut changed = found.clone();
    changed.set_readonly(false);
    file.set_permissions(changed)?;
    Ok(Some(found))
}
