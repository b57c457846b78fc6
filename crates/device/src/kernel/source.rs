use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::{KernelError, describe_refusal};
use crate::wgsl::tidy_path;

/// Maximum size of a shader's file, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// WGSL text of a kernel: from [`include_wgsl!`](crate::include_wgsl), from a file, or a named
/// string.
#[derive(Debug, Clone)]
pub struct KernelSource {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) path: Option<PathBuf>,
    /// True for a text that Zippy composes from its own text and a user's text with checked names.
    pub(super) composed: bool,
    pub(super) prefers_driver: bool,
}

impl KernelSource {
    /// Creates a source from WGSL in a string; `name` replaces the file name in error messages.
    pub fn text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), path: None, composed: false, prefers_driver: false }
    }

    /// Creates a source from WGSL that a library composes, possibly around a text of its user:
    /// names of helpers, which a program must not declare, are allowed.
    pub fn composed(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { composed: true, ..Self::text(name, text) }
    }

    /// Reads WGSL from a file. In debug builds the kernel is compiled again when the file changes.
    ///
    /// # Errors
    /// The file cannot be read, is no regular file (a pipe, a device), has more than 16 MiB, or is
    /// not text in UTF-8.
    pub fn file(path: impl AsRef<Path>) -> Result<Self, KernelError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text = read_source_file(path).map_err(|message| KernelError::File { kernel: name.clone(), message })?;
        Ok(Self { name, text, path: Some(path.to_owned()), composed: false, prefers_driver: false })
    }

    /// Prefers a software driver, if present, to native kernels: for a kernel that the driver
    /// computes faster. `ZIPPY_KERNELS` overrides the preference. Results of the driver may differ
    /// in their bits between processors, and Mesa's lavapipe may stop loops after 65,535
    /// iterations.
    pub fn prefer_driver(self, prefers_driver: bool) -> Self {
        Self { prefers_driver, ..self }
    }

    /// Returns the file or name, for error messages.
    pub fn as_name(&self) -> &str {
        &self.name
    }

    /// Returns the WGSL text.
    pub fn as_text(&self) -> &str {
        &self.text
    }

    /// The expansion of [`include_wgsl!`](crate::include_wgsl).
    #[doc(hidden)]
    pub fn included(manifest_dir: &str, source_file: &str, path: &str, text: &str) -> Self {
        let relative = Path::new(source_file).parent().unwrap_or(Path::new("")).join(path);
        // The compiler names source files from the workspace's root, which may lie above the
        // package.
        let found = Path::new(manifest_dir).ancestors().map(|dir| dir.join(&relative)).find(|path| path.is_file());
        Self {
            name: tidy_path(source_file, path),
            text: text.to_owned(),
            path: found,
            composed: false,
            prefers_driver: false,
        }
    }
}

/// Reads a shader's file; an error is a text.
fn read_source_file(path: &Path) -> Result<String, String> {
    let text = |error: std::io::Error| describe_refusal(path, &error);
    if !path.metadata().map_err(text)?.is_file() {
        return Err("it is not a regular file".into());
    }
    let mut found = Vec::new();
    // Some special files are longer than their reported size.
    std::fs::File::open(path).map_err(text)?.take(MAX_FILE_BYTES + 1).read_to_end(&mut found).map_err(text)?;
    match found.len() as u64 {
        ..=MAX_FILE_BYTES => String::from_utf8(found).map_err(|error| error.to_string()),
        _ => Err(format!("it has more than {MAX_FILE_BYTES} bytes")),
    }
}

impl From<&KernelSource> for KernelSource {
    fn from(source: &KernelSource) -> Self {
        source.clone()
    }
}

#[derive(Debug)]
pub(super) struct FileWatch {
    path: PathBuf,
    last_stamp: Option<Stamp>,
}

/// Modification time and length of a file. Two versions written within one tick of the file's clock
/// mostly differ in length.
type Stamp = (SystemTime, u64);

impl FileWatch {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), last_stamp: file_stamp(path) }
    }

    /// Returns the new text if the file has changed since the last call.
    pub(super) fn changed(&mut self) -> Option<String> {
        let now = file_stamp(&self.path)?;
        if self.last_stamp == Some(now) {
            return None;
        }
        let text = read_source_file(&self.path).ok()?;
        self.last_stamp = Some(now);
        Some(text)
    }
}

fn file_stamp(path: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

/// The WGSL file at a path relative to this source file, as a
/// [`KernelSource`](crate::kernel::KernelSource).
///
/// The program contains the text. In debug builds, the kernel is compiled again at the next run
/// after the file has changed.
#[macro_export]
macro_rules! include_wgsl {
    ($path:literal $(,)?) => {
        $crate::kernel::KernelSource::included(env!("CARGO_MANIFEST_DIR"), file!(), $path, include_str!($path))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_long_file_is_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.wgsl");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(MAX_FILE_BYTES).unwrap();
        assert_eq!(read_source_file(&path).unwrap().len() as u64, MAX_FILE_BYTES);
        file.set_len(MAX_FILE_BYTES + 1).unwrap();
        assert!(read_source_file(&path).unwrap_err().contains("more than 16777216 bytes"));
        std::fs::write(&path, "\u{e4}".repeat(MAX_FILE_BYTES as usize / 2 + 1)).unwrap();
        assert!(
            read_source_file(&path).unwrap_err().contains("more than 16777216 bytes"),
            "the cut may be within a letter"
        );
    }
}
