//! [`CollectiveStore`]: a directory of files written by all ranks of a world.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use zippy::collective::CollectiveWorld;
use zippy::transport::copied;
use zippy::{Error, Result, World};
use zippy_files::{FileError, random_directory, resolve_dangling_links, shown, sweep, sync_directory, sync_entry};

use super::flusher::Flusher;

const MAX_UNSYNCED_DIRECTORIES: usize = 4096;

/// Zarr store in progress: a directory with a random name in the final parent. It gets its final
/// name after all ranks have written their files; dropped before [`finish`](Self::finish), it is
/// removed.
pub(super) struct CollectiveStore {
    path: PathBuf,
    temporary: PathBuf,
    /// On rank 0.
    draft: Option<StoreDraft>,
    flusher: Option<Flusher>,
    directories: BTreeSet<PathBuf>,
    bytes: u64,
    failed: Option<FileError>,
}

struct StoreDraft {
    directory: TempDir,
    /// `path` with symbolic links resolved.
    target: PathBuf,
    /// Permissions of the replaced store.
    permissions: Option<Permissions>,
}

impl CollectiveStore {
    /// Creates a store that will become `path`. Collective; the same path on every rank.
    pub(super) fn create(world: &World, path: &Path) -> Result<Self> {
        let create = || {
            let draft = StoreDraft::next_to(path)?;
            match draft.directory.path().to_str().map(str::to_owned) {
                Some(name) => Ok((draft, name)),
                None => Err(FileError::request(path, "has a name, or lies in a directory, that is no Unicode")),
            }
        };
        let is_root = world.rank() == 0;
        let draft = world.agree("creating a Zarr store", is_root.then(create).transpose().map_err(Error::from))?;
        let name = draft.as_ref().map(|(_, name)| copied(name.as_bytes()));
        let name = world.failing("opening a Zarr store", || world.group().broadcast(0, name))?;
        let temporary = PathBuf::from(&*String::from_utf8_lossy((*name).as_ref()));
        let draft = draft.map(|(draft, _)| draft);
        let found = if temporary.is_dir() {
            Ok(())
        } else {
            Err(FileError::request(path, format!("rank {} does not see its directory", world.rank())))
        };
        world.agree("opening a Zarr store", found.map_err(Error::from))?;
        let (path, directories) = (path.to_path_buf(), BTreeSet::new());
        Ok(Self { path, temporary, draft, flusher: None, directories, bytes: 0, failed: None })
    }

    /// Writes a file at a key with `/` separators. Local; each key once. The store keeps the first
    /// error for [`finish`](Self::finish) and ignores later writes.
    pub(super) fn put(&mut self, key: &str, bytes: &[u8]) {
        if self.failed.is_none() {
            let written = self.write(key, bytes);
            self.failed = written.map_err(|error| FileError::system(&self.path.join(key), "write", &error)).err();
        }
    }

    /// Keeps the first error for [`finish`](Self::finish).
    pub(super) fn keep_error(&mut self, written: std::result::Result<(), FileError>) {
        self.failed = self.failed.take().or(written.err());
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn check(&self) -> std::result::Result<(), FileError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn write(&mut self, key: &str, bytes: &[u8]) -> io::Result<()> {
        let file = self.temporary.join(key);
        let parent = file.parent().unwrap_or(&self.temporary);
        if !self.directories.contains(parent) {
            fs::create_dir_all(parent)?;
            let within = parent.ancestors().take_while(|directory| directory.starts_with(&self.temporary));
            self.directories.extend(within.map(Path::to_path_buf));
        }
        let mut file = File::create_new(&file)?;
        file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        let flusher = match &mut self.flusher {
            Some(flusher) => flusher,
            none => none.insert(Flusher::start()?),
        };
        flusher.add(file)?;
        if self.directories.len() < MAX_UNSYNCED_DIRECTORIES { Ok(()) } else { self.sync_directories() }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.flusher.take().map_or(Ok(()), |mut flusher| flusher.end())?;
        self.sync_directories()
    }

    fn sync_directories(&mut self) -> io::Result<()> {
        std::mem::take(&mut self.directories).iter().try_for_each(|directory| sync_directory(directory))
    }

    /// Syncs all files and gives the store its final name, replacing an existing store; returns the
    /// bytes of all ranks. Collective.
    pub(super) fn finish(mut self, world: &World) -> Result<u64> {
        let written = match self.failed.take() {
            Some(error) => Err(error),
            None => self.sync().map_err(|error| FileError::system(&self.path, "write", &error)),
        };
        world.agree("writing a Zarr store", written.map_err(Error::from))?;
        let mut bytes = [self.bytes];
        let add = || world.group().all_reduce(&mut bytes, |sum, more| *sum += more);
        world.failing("counting the bytes of a Zarr store", add)?;
        let put = self.draft.take().map_or(Ok(()), |draft| draft.put(&self.path, exchange));
        world.agree("putting a Zarr store into its place", put.map_err(Error::from))?;
        Ok(bytes[0])
    }
}

impl StoreDraft {
    fn next_to(path: &Path) -> std::result::Result<Self, FileError> {
        let refused = |error: io::Error| FileError::system(path, "write", &error);
        let target = match fs::metadata(path) {
            Ok(found) if !found.is_dir() => {
                return Err(FileError::request(
                    path,
                    "is a file; a Zarr store is a directory, and replaces only another one",
                ));
            }
            Ok(_) if !is_store(path) && !is_empty(path) => {
                let message =
                    "is a directory without zarr.json, so no Zarr store; only a store is replaced by another one";
                return Err(FileError::request(path, message));
            }
            Ok(_) => fs::canonicalize(path).map_err(refused)?,
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(error)),
            Err(_) if path.file_name().is_none() => return Err(FileError::request(path, "is not the name of a store")),
            Err(_) => resolve_dangling_links(path),
        };
        let permissions = fs::metadata(&target).ok().map(|found| found.permissions());
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let parent = fs::canonicalize(parent).map_err(refused)?;
        sweep(&parent);
        let directory = random_directory().tempdir_in(&parent).map_err(refused)?;
        let target = parent.join(target.file_name().unwrap_or_default());
        Ok(Self { directory, target, permissions })
    }

    /// Gives the store its final name; errors name `path`. `exchange` swaps two directories
    /// atomically, if supported. The replaced store is removed after the new name is on the disk.
    fn put(self, path: &Path, exchange: impl Fn(&Path, &Path) -> bool) -> Result<(), FileError> {
        let refused = |error: io::Error| FileError::system(path, "rename into place", &error);
        let Some(permissions) = &self.permissions else {
            fs::rename(self.directory.path(), &self.target).map_err(refused)?;
            // Renamed, so the guard must not remove it.
            let _ = self.directory.keep();
            return sync_entry(path, &self.target);
        };
        fs::set_permissions(self.directory.path(), permissions.clone()).map_err(refused)?;
        let (holder, old) = if exchange(self.directory.path(), &self.target) {
            (self.directory.keep(), None)
        } else {
            let (holder, old) = set_aside(path, self.directory.path(), &self.target, |from, to| fs::rename(from, to))?;
            let _ = self.directory.keep();
            (holder, Some(old))
        };
        let old = old.as_ref().unwrap_or(&holder);
        let kept = |error: &str| {
            let message = format!("the new store is in its place, and the old one is kept as {}: {error}", shown(old));
            FileError::request(path, message)
        };
        if let Err(error) = sync_entry(path, &self.target) {
            // The next save would remove a directory with a draft's name.
            let aside =
                random_directory().tempdir_in(self.target.parent().unwrap_or(Path::new("."))).map_err(refused)?;
            let old = aside.path().join("store");
            fs::rename(&holder, &old).map_err(refused)?;
            let _ = aside.keep();
            let message = format!("the new store is in its place, and the old one is kept as {}: {error}", shown(&old));
            return Err(FileError::request(path, message));
        }
        // Another program may have replaced the directory since `next_to`.
        if is_store(old) || is_empty(old) {
            fs::remove_dir_all(&holder).map_err(|error| kept(&error.to_string()))
        } else {
            Err(kept("it is no Zarr store, and only such a one is removed"))
        }
    }
}

/// Renames `new` to `target`. The replaced store moves into a new directory next to it; returns
/// that directory and the store's path in it.
fn set_aside(
    path: &Path,
    new: &Path,
    target: &Path,
    rename: impl Fn(&Path, &Path) -> io::Result<()>,
) -> Result<(PathBuf, PathBuf), FileError> {
    let refused = |error: io::Error| FileError::system(path, "rename into place", &error);
    let holder = random_directory().tempdir_in(target.parent().unwrap_or(Path::new("."))).map_err(refused)?;
    let aside = holder.path().join("store");
    rename(target, &aside).map_err(refused)?;
    let Err(error) = rename(new, target) else { return Ok((holder.keep(), aside)) };
    let Err(back) = rename(&aside, target) else { return Err(refused(error)) };
    let _ = holder.keep();
    let message = format!(
        "cannot rename the new store into place ({error}), nor the old one back ({back}); the old one is kept as {}",
        shown(&aside)
    );
    Err(FileError::request(path, message))
}

/// True for the root directory of a Zarr hierarchy.
pub(super) fn is_store(path: &Path) -> bool {
    ["zarr.json", ".zgroup", ".zarray"].iter().any(|name| path.join(name).is_file())
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Swaps two directories atomically, if the file system can.
#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_store_is_removed_with_and_without_atomic_swap() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.zarr");
        let exchanges: [fn(&Path, &Path) -> bool; 3] = [exchange, |_, _| false, exchange];
        for (number, exchange) in exchanges.into_iter().enumerate() {
            let draft = StoreDraft::next_to(&path).unwrap();
            fs::write(draft.directory.path().join("zarr.json"), number.to_string()).unwrap();
            draft.put(&path, exchange).unwrap();
            assert_eq!(fs::read_to_string(path.join("zarr.json")).unwrap(), number.to_string());
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        }
        drop(StoreDraft::next_to(&path).unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
    /// The second of two renames fails because the directory is missing.
    #[test]
    fn old_store_survives_failed_rename() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.zarr");
        let make = |name: &Path| {
            fs::create_dir_all(name).unwrap();
            fs::write(name.join("zarr.json"), "old").unwrap();
        };
        make(&path);
        let entries = || fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
        let draft = StoreDraft::next_to(&path).unwrap();
        let failing_exchange = |new: &Path, _: &Path| fs::remove_dir(new).is_err();
        let error = draft.put(&path, failing_exchange).unwrap_err().to_string();
        assert!(error.contains("cannot rename into place") && entries() == [path.clone()], "{error}");
        let is_first_call = std::cell::Cell::new(true);
        let rename_once = |from: &Path, to: &Path| {
            if is_first_call.replace(false) {
                fs::rename(from, to)
            } else {
                Err(io::ErrorKind::PermissionDenied.into())
            }
        };
        let error = set_aside(&path, &directory.path().join("new"), &path, rename_once).unwrap_err().to_string();
        let kept = error.split("is kept as ").nth(1).unwrap();
        assert_eq!(fs::read_to_string(Path::new(kept).join("zarr.json")).unwrap(), "old", "{error}");
    }

    /// The old directory stops being a store before the swap.
    #[test]
    fn replaced_directory_without_store_is_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.zarr");
        for exchange in [exchange as fn(&Path, &Path) -> bool, |_, _| false] {
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("zarr.json"), "{}").unwrap();
            let draft = StoreDraft::next_to(&path).unwrap();
            fs::write(draft.directory.path().join("zarr.json"), "new").unwrap();
            fs::remove_dir_all(&path).unwrap();
            fs::create_dir(&path).unwrap();
            fs::write(path.join("photo.jpg"), "mine").unwrap();
            let error = draft.put(&path, exchange).unwrap_err().to_string();
            let kept = error.split("is kept as ").nth(1).unwrap().split(": ").next().unwrap();
            assert_eq!(fs::read_to_string(Path::new(kept).join("photo.jpg")).unwrap(), "mine", "{error}");
            assert_eq!(fs::read_to_string(path.join("zarr.json")).unwrap(), "new");
        }
    }
}
