//! [`CollectiveFile`]: one file that all ranks of a world write.

use std::path::Path;

use zippy::collective::CollectiveWorld;
use zippy::error::CallSite;
use zippy::transport::copied;
use zippy::{Error, Result, World};
use zippy_files::{FileError, FileLocation, SharedFile};

/// File that all ranks of a world write in parts; it gets its name when all parts are on the disk.
/// A [`SharedFile`] with collective error handling. All ranks must see the same file system.
///
/// Dropped before [`finish`](Self::finish), the value removes the unfinished file.
#[must_use = "`finish` gives the file its name"]
pub struct CollectiveFile<'w> {
    world: &'w World,
    part: RankPart,
}

pub(crate) struct RankPart {
    file: SharedFile,
    failed: Option<FileError>,
}

impl<'w> CollectiveFile<'w> {
    /// Creates a file of `length` bytes, zeros at first, that will become `path`. Collective; the
    /// same arguments on every rank.
    ///
    /// # Errors
    /// The same on every rank: an operating system error, or `path` exists and is not a regular
    /// file.
    #[track_caller]
    pub fn create(world: &'w World, path: impl AsRef<Path>, length: u64) -> Result<Self> {
        let _call = CallSite::enter();
        let path = path.as_ref();
        let is_root = world.rank() == 0;
        let create = || SharedFile::create_unnamed(path, length).inspect(SharedFile::sweep_directory);
        let mut created = world.agree("creating a file", is_root.then(create).transpose().map_err(Error::from))?;
        let mut location = broadcast_location(world, path, created.as_ref())?;
        let mut opened = None;
        if !location.is_named {
            opened = if is_root { None } else { SharedFile::open_same(&location) };
            let mut unopened = [u64::from(!is_root && opened.is_none())];
            let add = || world.group().all_reduce(&mut unopened, |sum, more| *sum += *more);
            world.failing("opening a file", add)?;
            // A rank on another node cannot open a file without a name.
            if unopened[0] > 0 {
                let named = created.as_mut().map_or(Ok(()), SharedFile::give_name);
                world.agree("naming a file", named.map_err(Error::from))?;
                location = broadcast_location(world, path, created.as_ref())?;
            }
        }
        if location.is_named {
            let open = || SharedFile::open(&location.path).map(Some);
            let found = if is_root { Ok(None) } else { open() };
            opened = world.agree("opening a file", found.map_err(Error::from))?;
        }
        let lost = || FileError::request(path, "got lost while it was opened");
        let file = created.or(opened.map(|file| file.with_error_path(path))).ok_or_else(lost)?;
        Ok(Self { world, part: RankPart { file, failed: None } })
    }

    /// Writes bytes at byte `offset`. Local; the ranks' bytes must not overlap. The value keeps the
    /// first error for [`finish`](Self::finish) and ignores later writes.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) {
        self.part.write_at(offset, bytes);
    }

    /// Returns the kept error of an earlier write, for an early stop. Local.
    ///
    /// # Errors
    /// The error that [`finish`](Self::finish) would return on this rank.
    pub fn check(&self) -> std::result::Result<(), FileError> {
        self.part.check()
    }

    pub(crate) fn part(&mut self) -> &mut RankPart {
        &mut self.part
    }

    /// Waits until all bytes are on the disk, and renames the file to its final name; an existing
    /// file is replaced. Collective.
    ///
    /// # Errors
    /// The same on every rank: an operating system error on any rank. Nothing of the file is left
    /// then, unless the message says that it has its final name.
    #[track_caller]
    pub fn finish(self) -> Result<()> {
        let _call = CallSite::enter();
        let RankPart { mut file, failed } = self.part;
        let written = failed.map_or_else(|| file.finish(), Err);
        self.world.agree("writing a file", written.map_err(Error::from))?;
        let put = if self.world.rank() == 0 { file.commit() } else { Ok(()) };
        self.world.agree("putting a file into its place", put.map_err(Error::from))
    }
}

/// Location of the file of rank 0. Collective.
fn broadcast_location(world: &World, path: &Path, created: Option<&SharedFile>) -> Result<FileLocation> {
    let unknown = || FileError::request(path, "has a name, or lies in a directory, that is no Unicode");
    let text = created.map(|file| serde_json::to_vec(&file.location()).map_err(|_| unknown())).transpose();
    let text = world.agree("opening a file", text.map_err(Error::from))?;
    let text = world.failing("opening a file", || world.group().broadcast(0, text.map(|text| copied(&text))))?;
    let malformed = |error: serde_json::Error| Error::program(format!("the location of a file from rank 0: {error}"));
    serde_json::from_slice((*text).as_ref()).map_err(malformed)
}

impl RankPart {
    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write_at(offset, bytes).err();
        }
    }

    pub(crate) fn check(&self) -> std::result::Result<(), FileError> {
        self.failed.clone().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use zippy::{Config, run_with};

    use super::*;

    fn count(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_of_ranks_has_no_name_until_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.bin");
        let has_unnamed = !SharedFile::create_unnamed(&path, 1).unwrap().location().is_named;
        for ranks in [1, 3, 5] {
            let before = count(directory.path());
            let program = |world: &World| {
                let mut file = CollectiveFile::create(world, &path, 500)?;
                let share = 500 / world.size();
                let bytes = if world.rank() + 1 == world.size() { 500 - share * world.rank() } else { share };
                file.write_at((share * world.rank()) as u64, &vec![ranks as u8; bytes]);
                world.barrier()?;
                assert_eq!(count(directory.path()) == before, has_unnamed);
                world.barrier()?;
                file.finish()
            };
            run_with(Config::threads(ranks), program).unwrap();
            assert_eq!((fs::read(&path).unwrap(), count(directory.path())), (vec![ranks as u8; 500], 1));
        }
    }
}
