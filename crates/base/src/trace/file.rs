//! [`TraceFile`]: a file that is there as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file under a name of its own, until it is whole.
pub struct TraceFile {
    file: BufWriter<File>,
    part: PathBuf,
    to: PathBuf,
}

impl TraceFile {
    /// Begins one beside where it is to be.
    ///
    /// # Errors
    /// What stands there is no regular file; the directory is none, or cannot be written.
    pub fn create(to: &Path) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // What a link leads to is written, not the link.
        let to = match fs::canonicalize(to) {
            Ok(found) if fs::metadata(&found)?.is_file() => found,
            Ok(_) => return Err(io::Error::other("it is there and is no regular file")),
            Err(_) => to.to_owned(),
        };
        let Some(name) = to.file_name() else { return Err(io::Error::other("it is no name of a file")) };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.{}.part", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        let part = to.with_file_name(hidden);
        let file = OpenOptions::new().write(true).create_new(true).open(&part)?;
        Ok(Self { file: BufWriter::new(file), part, to })
    }

    /// Gives it its name, in place of what has it.
    ///
    /// # Errors
    /// What the file system says.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        fs::rename(&self.part, &self.to)
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

/// What was not finished goes.
impl Drop for TraceFile {
    fn drop(&mut self) {
        // Once it is finished there is none of this name.
        let _ = fs::remove_file(&self.part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all() {
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
    fn what_is_no_place_for_a_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("file"), "kept").unwrap();
        for bad in [path(""), path("file/below"), path("nowhere/file"), path(".."), PathBuf::new()] {
            assert!(TraceFile::create(&bad).is_err(), "{bad:?}");
        }
        // No device is replaced by a file.
        #[cfg(unix)]
        assert!(TraceFile::create(Path::new("/dev/null")).is_err());
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "kept");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_one() {
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
