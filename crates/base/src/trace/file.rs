//! [`TraceFile`]: a file that gets its name on completion.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// File with a temporary name until completion. A drop without [`finish`](Self::finish) removes the
/// file.
pub struct TraceFile {
    file: BufWriter<File>,
    temporary: PathBuf,
    destination: PathBuf,
}

impl TraceFile {
    /// Creates a temporary file in the directory of `destination`.
    ///
    /// # Errors
    /// * `destination` exists and is no regular file, or is no file name.
    /// * The directory does not exist or is not writable.
    pub fn create(destination: &Path) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // A symbolic link stays, and its target is replaced.
        let destination = match fs::canonicalize(destination) {
            Ok(found) if fs::metadata(&found)?.is_file() => found,
            Ok(_) => return Err(io::Error::other("it exists and is not a regular file")),
            Err(_) => destination.to_owned(),
        };
        let Some(name) = destination.file_name() else { return Err(io::Error::other("it is not a file name")) };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{}.part", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        let temporary = destination.with_file_name(hidden);
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        Ok(Self { file: BufWriter::new(file), temporary, destination })
    }

    /// Renames the file to its destination and replaces an existing file.
    ///
    /// # Errors
    /// The error of the write or the rename.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        fs::rename(&self.temporary, &self.destination)
    }
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        // No effect after `finish`.
        let _ = fs::remove_file(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_appears_only_when_finished() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a trace.json");
        let names = || fs::read_dir(directory.path()).unwrap().count();
        let mut file = TraceFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(names(), 0);
        for text in ["first", "second"] {
            let mut file = TraceFile::create(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.finish().unwrap();
            assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names()), (text, 1));
        }
    }

    #[test]
    fn unusable_destination_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("file"), "kept").unwrap();
        for bad in [path(""), path("file/below"), path("nowhere/file"), path(".."), PathBuf::new()] {
            assert!(TraceFile::create(&bad).is_err(), "{bad:?}");
        }
        #[cfg(unix)]
        assert!(TraceFile::create(Path::new("/dev/null")).is_err());
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "kept");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_link_stays_and_its_target_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| directory.path().join(name));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut written = TraceFile::create(&link).unwrap();
        written.write_all(b"new").unwrap();
        written.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }
}
