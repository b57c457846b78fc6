//! A file that several processes write.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Pending, directory, sweep, write_at};
use crate::{IoError, process, shown};

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

/// Where other ranks find a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Place {
    pub path: PathBuf,
    machine: String,
    /// Its device, and its number there.
    number: Option<(u64, u64)>,
    /// It has a name, and `path` is that.
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
        Self::made(path.as_ref(), Pending::named, length)
    }

    /// [`Self::create`] without a name, where the system has such files: it goes with the last process that has it open.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub(super) fn create_unnamed(path: &Path, length: u64) -> Result<Self, IoError> {
        Self::made(path, Pending::create, length)
    }

    fn made(path: &Path, create: fn(&Path) -> Result<Pending, IoError>, length: u64) -> Result<Self, IoError> {
        let pending = create(path)?;
        let refused = |error| IoError::system(path, "write", &error);
        let file = pending.temporary.file.try_clone().map_err(refused)?;
        file.set_len(length).map_err(refused)?;
        let permissions = let_owner_write(&file).map_err(refused)?;
        let temporary = pending.temporary.path().map_err(refused)?;
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

    /// Removes what killed programs have left in the directory of the file.
    pub(super) fn sweep_beside(&self) {
        if let Some(created) = &self.created {
            sweep(directory(&created.pending.target));
        }
    }

    /// [`Self::open`] of a file of this machine, if it is the one that the other rank means.
    pub(super) fn open_same(place: &Place) -> Option<Self> {
        let opened = (place.machine == process::machine()).then(|| Self::open(&place.path).ok()).flatten()?;
        (place.number == number(&opened.file)).then_some(opened)
    }

    /// Where other ranks find the file.
    pub(super) fn place(&self) -> Place {
        let machine = process::machine().to_string();
        Place { path: self.temporary.clone(), machine, number: number(&self.file), is_named: self.is_named() }
    }

    fn is_named(&self) -> bool {
        self.created.as_ref().is_none_or(|created| created.pending.temporary.name.is_some())
    }

    /// Gives the file a name, by which others can open it. On the rank that created it.
    ///
    /// # Errors
    /// What the operating system said.
    pub(super) fn give_name(&mut self) -> Result<(), IoError> {
        let refused = |error| IoError::system(&self.path, "write", &error);
        if let Some(Created { pending, .. }) = &mut self.created {
            pending.temporary.give_name(directory(&pending.target)).map_err(refused)?;
            self.temporary = pending.temporary.path().map_err(refused)?;
        }
        Ok(())
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
