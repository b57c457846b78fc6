//! [`CollectiveFile`]: one file that all ranks of a world write.

use std::path::Path;

use zippy::error::CallSite;
use zippy::transport::copied;
use zippy::{Error, Result, World};

use super::SharedFile;
use super::shared::Place;
use crate::IoError;

/// A file in which each rank of a world writes its parts, and which appears under its name when all of them are there:
/// a [`SharedFile`] of which all ranks know the mistakes. All ranks see the same file system.
///
/// Dropped before [`finish`](Self::finish), it leaves nothing behind.
#[must_use = "`finish` puts the file into its place"]
pub struct CollectiveFile<'w> {
    world: &'w World,
    own: OwnPart,
}

/// What this rank has of the file; any of its threads may write.
pub struct OwnPart {
    file: SharedFile,
    failed: Option<IoError>,
}

impl<'w> CollectiveFile<'w> {
    /// A file of so many bytes, zeros at first, that will be `path`. Collective; the same arguments on every rank.
    ///
    /// # Errors
    /// The same on every rank: what the operating system said; there is something of that name, but no regular file.
    #[track_caller]
    pub fn create(world: &'w World, path: impl AsRef<Path>, length: u64) -> Result<Self> {
        let _call = CallSite::enter();
        let path = path.as_ref();
        let is_first = world.rank() == 0;
        let create = || SharedFile::create_unnamed(path, length).inspect(SharedFile::sweep_beside);
        let mut created = world.agree("creating a file", is_first.then(create).transpose().map_err(Error::from))?;
        let mut place = told(world, path, created.as_ref())?;
        let mut opened = None;
        if !place.is_named {
            opened = if is_first { None } else { SharedFile::open_same(&place) };
            let mut blind = [u64::from(!is_first && opened.is_none())];
            let add = || world.group().all_reduce(&mut blind, |sum, more| *sum += *more);
            world.failing("opening a file", add)?;
            // On another node, say: only a name leads there.
            if blind[0] > 0 {
                let named = created.as_mut().map_or(Ok(()), SharedFile::give_name);
                world.agree("naming a file", named.map_err(Error::from))?;
                place = told(world, path, created.as_ref())?;
            }
        }
        if place.is_named {
            let open = || SharedFile::open(&place.path).map(Some);
            let found = if is_first { Ok(None) } else { open() };
            opened = world.agree("opening a file", found.map_err(Error::from))?;
        }
        let lost = || IoError::request(path, "got lost while it was opened");
        let file = created.or(opened.map(|file| file.called(path))).ok_or_else(lost)?;
        Ok(Self { world, own: OwnPart { file, failed: None } })
    }

    /// Writes bytes from byte `offset` on. Local; what ranks write must not overlap. A mistake is kept, and
    /// [`finish`](Self::finish) tells it; after it nothing more is written.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) {
        self.own.write_at(offset, bytes);
    }

    /// The mistake that has been kept, if there is one: whoever has much left to write can stop. Local.
    ///
    /// # Errors
    /// What [`finish`](Self::finish) would tell this rank.
    pub fn check(&self) -> std::result::Result<(), IoError> {
        self.own.check()
    }

    pub(crate) fn own(&mut self) -> &mut OwnPart {
        &mut self.own
    }

    /// Waits until everything is on the disk, and puts the file into its place; an existing one is replaced. Collective.
    ///
    /// # Errors
    /// The same on every rank: what the operating system said to any of them. Nothing is left of the file then, unless the
    /// message says that it is in its place.
    #[track_caller]
    pub fn finish(self) -> Result<()> {
        let _call = CallSite::enter();
        let OwnPart { mut file, failed } = self.own;
        let written = failed.map_or_else(|| file.finish(), Err);
        self.world.agree("writing a file", written.map_err(Error::from))?;
        let put = if self.world.rank() == 0 { file.commit() } else { Ok(()) };
        self.world.agree("putting a file into its place", put.map_err(Error::from))
    }
}

/// Where rank 0 has made a file. Collective.
fn told(world: &World, path: &Path, created: Option<&SharedFile>) -> Result<Place> {
    let unknown = || IoError::request(path, "has a name, or lies in a directory, that is no Unicode");
    let text = created.map(|file| serde_json::to_vec(&file.place()).map_err(|_| unknown())).transpose();
    let text = world.agree("opening a file", text.map_err(Error::from))?;
    let text = world.failing("opening a file", || world.group().broadcast(0, text.map(|text| copied(&text))))?;
    let malformed = |error: serde_json::Error| Error::program(format!("what ranks tell of a file: {error}"));
    serde_json::from_slice((*text).as_ref()).map_err(malformed)
}

impl OwnPart {
    /// [`CollectiveFile::write_at`].
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write_at(offset, bytes).err();
        }
    }

    /// [`CollectiveFile::check`].
    ///
    /// # Errors
    /// Those.
    pub fn check(&self) -> std::result::Result<(), IoError> {
        self.failed.clone().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use zippy::{Config, run_with};

    use super::super::unnamed;
    use super::*;

    fn count(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    /// While ranks write it the file has no name: nothing is left of it however they end.
    #[cfg(target_os = "linux")]
    #[test]
    fn file_of_ranks_has_no_name_until_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let has_unnamed = unnamed::create(directory.path()).is_some();
        let path = directory.path().join("a.bin");
        for ranks in [1, 3, 5] {
            let before = count(directory.path());
            let program = |world: &World| {
                let mut file = CollectiveFile::create(world, &path, 500)?;
                let share = 500 / world.size();
                let own = if world.rank() + 1 == world.size() { 500 - share * world.rank() } else { share };
                file.write_at((share * world.rank()) as u64, &vec![ranks as u8; own]);
                world.barrier()?;
                assert_eq!(count(directory.path()) == before, has_unnamed);
                world.barrier()?;
                file.finish()
            };
            run_with(Config::threads(ranks), program).unwrap();
            assert_eq!((fs::read(&path).unwrap(), count(directory.path())), (vec![ranks as u8; 500], 1));
        }
    }

    /// A rank that does not see the file without a name gets one that has it, and the file is whole all the same.
    #[cfg(target_os = "linux")]
    #[test]
    fn file_that_others_do_not_see_gets_a_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.bin");
        let mut file = SharedFile::create_unnamed(&path, 10).unwrap();
        let place = file.place();
        if place.is_named {
            return;
        }
        assert!(SharedFile::open_same(&place).is_some());
        // Another file of the same process and number.
        let other = SharedFile::create_unnamed(&path, 10).unwrap();
        let mut strange = other.place();
        strange.path.clone_from(&place.path);
        assert!(SharedFile::open_same(&strange).is_none());
        file.give_name().unwrap();
        let place = file.place();
        assert!(place.is_named && place.path.starts_with(directory.path().canonicalize().unwrap()));
        let mut another = SharedFile::open(&place.path).unwrap();
        another.write_at(5, b"67890").unwrap();
        file.write_at(0, b"12345").unwrap();
        another.finish().unwrap();
        file.finish().unwrap();
        file.commit().unwrap();
        drop(other);
        assert_eq!((fs::read(&path).unwrap(), count(directory.path())), (b"1234567890".to_vec(), 1));
    }
}
