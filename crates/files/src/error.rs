//! [`FileError`]: errors of files of any format.

use std::path::{Path, PathBuf};

use zippy_base::error::describe_refusal;

use crate::terminal_text::{said, shown};

/// Error of reading or writing a file. Variants name the file; errors in the content also name the
/// byte. Messages escape control characters and shorten long texts of untrusted files.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused to open, read or write the file.
    #[error("{}: cannot {action}: {}", shown(path), said(message))]
    System {
        /// File path.
        path: PathBuf,
        /// The attempted operation: open, read, write, rename.
        action: &'static str,
        /// Kind of the operating system's error.
        kind: std::io::ErrorKind,
        /// Message of the operating system.
        message: String,
    },
    /// The content does not follow its format.
    #[error("{}, byte {offset}: {}", shown(path), said(message))]
    Malformed {
        /// File path.
        path: PathBuf,
        /// Position of the error, in bytes from the start of the file.
        offset: u64,
        /// The defect and the correct form.
        message: String,
    },
    /// The content follows its format but uses a feature that is not supported.
    #[error("{}, byte {offset}: {}", shown(path), said(message))]
    Unsupported {
        /// File path.
        path: PathBuf,
        /// Position of the feature, in bytes from the start of the file.
        offset: u64,
        /// The unsupported feature and an alternative.
        message: String,
    },
    /// The data end before their declared size.
    #[error(
        "{}, byte {offset}: the data end after {found} of {expected} bytes; the file is truncated or its sizes are wrong",
        shown(path)
    )]
    Truncated {
        /// File path.
        path: PathBuf,
        /// End of the data, in bytes from the start of the file.
        offset: u64,
        /// Size of the data found, in bytes, uncompressed.
        found: u64,
        /// Size of the data that the header declares, in bytes, uncompressed.
        expected: u64,
    },
    /// The data are larger than the header declares.
    #[error("{}, byte {offset}: data go on after the {expected} bytes of its sizes", shown(path))]
    Oversized {
        /// File path.
        path: PathBuf,
        /// Start of the surplus, in bytes from the start of the file.
        offset: u64,
        /// Size of the data that the header declares, in bytes, uncompressed.
        expected: u64,
    },
    /// The request does not fit the file.
    #[error("{}: {}", shown(path), said(message))]
    Request {
        /// File path.
        path: PathBuf,
        /// The mistake and the correct form.
        message: String,
    },
}

impl From<FileError> for zippy_base::Error {
    #[track_caller]
    fn from(error: FileError) -> Self {
        Self::other(error)
    }
}

impl FileError {
    /// Operating system error for `path`, with the first missing directory of the path, if any.
    pub fn system(path: &Path, action: &'static str, error: &std::io::Error) -> Self {
        Self::System { path: path.to_path_buf(), action, kind: error.kind(), message: describe_refusal(path, error) }
    }

    /// Content that violates its format.
    pub fn malformed(path: &Path, offset: u64, message: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_path_buf(), offset, message: message.into() }
    }

    /// Valid content that is not supported.
    pub fn unsupported(path: &Path, offset: u64, message: impl Into<String>) -> Self {
        Self::Unsupported { path: path.to_path_buf(), offset, message: message.into() }
    }

    /// Request that does not fit the file.
    pub fn request(path: &Path, message: impl Into<String>) -> Self {
        Self::Request { path: path.to_path_buf(), message: message.into() }
    }
}
