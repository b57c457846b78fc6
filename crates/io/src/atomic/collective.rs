//! [`CollectiveFile`]: one file that all ranks of a world write.

use std::path::Path;

use zippy::error::CallSite;
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
