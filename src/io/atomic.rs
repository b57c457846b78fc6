//! Files that are either whole or not there.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::IoError;

/// Writes `bytes` to `path` so that nobody ever sees half a file: under a temporary name in the same directory
/// first, then renamed. An existing file is replaced.
///
/// # Errors
/// What the operating system said; the temporary file is removed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), IoError> {
    let pending = Pending::create(path)?;
    (&pending.file).write_all(bytes).map_err(|error| IoError::system(path, "write", &error))?;
    pending.commit()
}

/// A file that is written bit by bit under a temporary name and appears under its own when it is whole. Dropped before,
/// it leaves nothing behind.
#[derive(Debug)]
pub(super) struct Pending {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    committed: bool,
}

impl Pending {
    /// # Errors
    /// What the operating system said; the path names no file.
    pub fn create(path: &Path) -> Result<Self, IoError> {
        let temporary = temporary_name(path)?;
        let file = File::create(&temporary).map_err(|error| IoError::system(path, "write", &error))?;
        Ok(Self { path: path.to_path_buf(), temporary, file, committed: false })
    }

    /// A handle to write through; what it buffers must be flushed before [`Self::commit`].
    ///
    /// # Errors
    /// What the operating system said.
    pub fn writer(&self) -> Result<BufWriter<File>, IoError> {
        self.file.try_clone().map(BufWriter::new).map_err(|error| IoError::system(&self.path, "write", &error))
    }

    /// Puts the file into its place; an existing one is replaced.
    ///
    /// # Errors
    /// What the operating system said; the temporary file is removed.
    pub fn commit(mut self) -> Result<(), IoError> {
        self.file.sync_all().map_err(|error| IoError::system(&self.path, "write", &error))?;
        let renamed = fs::rename(&self.temporary, &self.path);
        renamed.map_err(|error| IoError::system(&self.path, "rename into place", &error))?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.committed {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// A name in the same directory that no other process or thread uses.
fn temporary_name(path: &Path) -> Result<PathBuf, IoError> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| IoError::request(path, "is not the name of a file"))?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}.{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
    Ok(path.with_file_name(temporary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_and_leaves_nothing_behind() {
        let directory = std::env::temp_dir().join(format!("zippy-atomic-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("a.bin");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        // A directory cannot be replaced by a file: the rename fails and the temporary file goes.
        let blocked = directory.join("b");
        fs::create_dir_all(blocked.join("inner")).unwrap();
        let error = write_whole(&blocked, b"x").unwrap_err();
        assert!(error.to_string().contains("rename into place"), "{error}");
        let missing = write_whole(&directory.join("no").join("such"), b"x").unwrap_err();
        assert!(missing.to_string().contains("cannot write"), "{missing}");
        let mut names: Vec<_> = fs::read_dir(&directory).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.bin", "b"]);
        fs::remove_dir_all(&directory).unwrap();
    }
}
