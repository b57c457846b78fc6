//! A file that several processes write.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use super::{Pending, write_at};
use crate::{IoError, shown};

/// So many bytes that are written at once begin to go to the disk at once.
#[cfg(target_os = "linux")]
const MUCH: usize = 1 << 20;

/// A file that several ranks write, threads or processes, on one node or on several that share a file system. It appears
/// under its name when it is whole.
///
/// One rank calls [`Self::create`] and tells the others [`Self::temporary`], by which they [`Self::open`] the same file.
/// Each writes its own bytes with [`Self::write_at`] and calls [`Self::finish`]. When the ranks have agreed that all of them
/// did so without an error, the rank that created the file calls [`Self::commit`]. No call waits for another rank.
///
/// Dropped before `commit` on the rank that created it, it leaves nothing behind. A process that is killed meanwhile leaves
/// the temporary file, but nothing under the file's own name that was not there before.
///
/// ```
/// use zippy_io::SharedFile;
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
/// # Ok::<(), zippy_io::IoError>(())
/// ```
#[derive(Debug)]
pub struct SharedFile {
    /// What errors name: the file that it becomes, or the temporary one where only that is known.
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    length: u64,
    created: Option<Created>,
}

/// What the rank that created the file has of it.
#[derive(Debug)]
struct Created {
    pending: Pending,
    /// What the file gets back when it is written: until then its owner may write.
    permissions: Option<Permissions>,
}

impl SharedFile {
    /// A file of `length` bytes, zeros at first, that will be `path`: under a temporary name in the same directory. As
    /// [`write_whole`](crate::write_whole) does, it replaces an existing file, hands on that one's mode, and follows
    /// symbolic links. One rank calls it.
    ///
    /// # Errors
    /// What the operating system said; there is something of that name, but no regular file.
    pub fn create(path: impl AsRef<Path>, length: u64) -> Result<Self, IoError> {
        let path = path.as_ref();
        let pending = Pending::named(path)?;
        let refused = |error| IoError::system(path, "write", &error);
        let file = pending.temporary.file.try_clone().map_err(refused)?;
        file.set_len(length).map_err(refused)?;
        let permissions = let_owner_write(&file).map_err(refused)?;
        let name = pending.temporary.name.as_deref().map(fs::canonicalize);
        let temporary = name.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into())).map_err(refused)?;
        Ok(Self { path: path.to_path_buf(), temporary, file, length, created: Some(Created { pending, permissions }) })
    }

    /// The file that another rank has created, by the name that its [`Self::temporary`] says.
    ///
    /// # Errors
    /// What the operating system said: say, the rank that created it has dropped it, or this rank's node does not see it.
    pub fn open(temporary: impl AsRef<Path>) -> Result<Self, IoError> {
        let path = temporary.as_ref();
        let refused = |error| IoError::system(path, "open", &error);
        // Opening a pipe would wait for somebody to read.
        if !fs::metadata(path).map_err(refused)?.is_file() {
            return Err(IoError::request(path, "is not a regular file"));
        }
        let file = OpenOptions::new().write(true).open(path).map_err(refused)?;
        let length = file.metadata().map_err(refused)?.len();
        Ok(Self { path: path.to_path_buf(), temporary: path.to_path_buf(), file, length, created: None })
    }

    /// With the name that errors say.
    pub(super) fn called(self, path: &Path) -> Self {
        Self { path: path.to_path_buf(), ..self }
    }

    /// The file's name until it is committed, an absolute path.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// Writes bytes from byte `offset` on. What ranks write at the same time must not overlap.
    ///
    /// # Errors
    /// The bytes reach behind the end of the file; what the operating system said.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), IoError> {
        if offset.checked_add(bytes.len() as u64).is_none_or(|end| end > self.length) {
            let message = format!("{} bytes from byte {offset} on do not fit its {}", bytes.len(), self.length);
            return Err(IoError::request(&self.path, message));
        }
        write_at(&self.file, offset, bytes).map_err(|error| IoError::system(&self.path, "write", &error))?;
        start_writing(&self.file, offset, bytes.len());
        Ok(())
    }

    /// Waits until what this rank has written is on the disk. Every rank calls it behind its last write.
    ///
    /// # Errors
    /// What the operating system said: some only learn now that a disk is full.
    pub fn finish(&mut self) -> Result<(), IoError> {
        self.file.sync_all().map_err(|error| IoError::system(&self.path, "write", &error))
    }

    /// Puts the file into its place; an existing one is replaced. Only on the rank that created it, when all ranks have
    /// finished.
    ///
    /// # Errors
    /// This rank did not create it; what the operating system said. The temporary file is removed. Where the file is in its
    /// place and only its name could not be brought to the disk, the message says so.
    pub fn commit(self) -> Result<(), IoError> {
        let Some(Created { pending, permissions }) = self.created else {
            let message = format!("was not created by this rank; who created {} commits it", shown(&self.temporary));
            return Err(IoError::request(&self.path, message));
        };
        if let Some(permissions) = permissions {
            let set = self.file.set_permissions(permissions);
            set.map_err(|error| IoError::system(&self.path, "write", &error))?;
        }
        // Windows renames no open file.
        drop(self.file);
        pending.commit()
    }
}

/// Asks the system to begin to put bytes on the disk that have just been written, if they are many, so that not all of them
/// wait for the end. It may do so or not.
#[cfg(target_os = "linux")]
pub fn start_writing(file: &File, offset: u64, bytes: usize) {
    if let Some(length) = std::num::NonZeroU64::new(bytes as u64).filter(|_| bytes >= MUCH) {
        let _ = rustix::fs::fadvise(file, offset, Some(length), rustix::fs::Advice::DontNeed);
    }
}

#[cfg(not(target_os = "linux"))]
pub fn start_writing(_: &File, _: u64, _: usize) {}

/// Lets the owner of a file write to it: other ranks have to open it, and it may have the mode of a file that nobody
/// writes to. What it had is returned where it was changed.
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
