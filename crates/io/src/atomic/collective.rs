//! [`CollectiveFile`]: one file that all ranks of a world write.

use std::path::Path;

use zippy::transport::copied;
use zippy::{Error, Result, World};

use super::SharedFile;
use crate::IoError;

/// A file in which each rank of a world writes its parts, and which appears under its name when all of them are there:
/// a [`SharedFile`] of which all ranks know the mistakes. All ranks see the same file system.
///
/// Dropped before [`finish`](Self::finish), it leaves nothing behind.
#[must_use = "`finish` puts the file into its place"]
pub struct CollectiveFile<'w> {
    world: &'w World,
    file: SharedFile,
    failed: Option<IoError>,
}

impl<'w> CollectiveFile<'w> {
    /// A file of so many bytes, zeros at first, that will be `path`. Collective; the same arguments on every rank.
    ///
    /// # Errors
    /// The same on every rank: what the operating system said; there is something of that name, but no regular file.
    pub fn create(world: &'w World, path: impl AsRef<Path>, length: u64) -> Result<Self> {
        let path = path.as_ref();
        let create = || {
            let file = SharedFile::create(path, length)?;
            match file.temporary().to_str().map(str::to_owned) {
                Some(name) => Ok((file, name)),
                None => Err(IoError::request(path, "has a name, or lies in a directory, that is no Unicode")),
            }
        };
        let is_first = world.rank() == 0;
        let created = world.agree("creating a file", is_first.then(create).transpose().map_err(Error::from))?;
        let name = created.as_ref().map(|(_, name)| copied(name.as_bytes()));
        let name = world.failing("opening a file", || world.group().broadcast(0, name))?;
        let opened = match created {
            Some((file, _)) => Ok(file),
            None => SharedFile::open(&*String::from_utf8_lossy((*name).as_ref())).map(|file| file.called(path)),
        };
        let file = world.agree("opening a file", opened.map_err(Error::from))?;
        Ok(Self { world, file, failed: None })
    }

    /// Writes bytes from byte `offset` on. Local; what ranks write must not overlap. A mistake is kept, and
    /// [`finish`](Self::finish) tells it; after it nothing more is written.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write_at(offset, bytes).err();
        }
    }

    /// The mistake that has been kept, if there is one: whoever has much left to write can stop. Local.
    ///
    /// # Errors
    /// What [`finish`](Self::finish) would tell this rank.
    pub fn check(&self) -> std::result::Result<(), IoError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Waits until everything is on the disk, and puts the file into its place; an existing one is replaced. Collective.
    ///
    /// # Errors
    /// The same on every rank: what the operating system said to any of them. Nothing is left of the file then, unless the
    /// message says that it is in its place.
    pub fn finish(mut self) -> Result<()> {
        let written = self.failed.take().map_or_else(|| self.file.finish(), Err);
        self.world.agree("writing a file", written.map_err(Error::from))?;
        let put = if self.world.rank() == 0 { self.file.commit() } else { Ok(()) };
        self.world.agree("putting a file into its place", put.map_err(Error::from))
    }
}
