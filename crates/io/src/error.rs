//! What can be wrong with a file.

use std::path::{Path, PathBuf};

use zippy::error::describe_refusal;

use super::foreign::{said, shown};

/// A file could not be read or written. Variants name the file, where there is one; what is wrong inside a file also names
/// the byte. In what is printed, control characters are escaped and long texts cut, as a file may have put them there.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The operating system refused to open, read or write the file.
    #[error("{}: cannot {action}: {}", shown(path), said(message))]
    System {
        /// The file.
        path: PathBuf,
        /// What was attempted: open, read, write, rename.
        action: &'static str,
        /// What the operating system said, as one of the kinds that the standard library knows.
        kind: std::io::ErrorKind,
        /// What the operating system said.
        message: String,
    },
    /// The content does not follow its format.
    #[error("{}, byte {offset}: {}", shown(path), said(message))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where, in bytes from the start of the file.
        offset: u64,
        /// What is wrong and what would be right.
        message: String,
    },
    /// The content follows its format but uses a part of it that is not read here.
    #[error("{}, byte {offset}: {}", shown(path), said(message))]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Where, in bytes from the start of the file.
        offset: u64,
        /// What is not supported and what to do instead.
        message: String,
    },
    /// The data end too early.
    #[error(
        "{}, byte {offset}: the data end after {found} of {expected} bytes; the file is truncated or its sizes are wrong",
        shown(path)
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Where the data end, in bytes from the start of the file.
        offset: u64,
        /// Bytes of data, uncompressed, that were found.
        found: u64,
        /// Bytes of data, uncompressed, that the header declares.
        expected: u64,
    },
    /// There are more data than the header declares.
    #[error("{}, byte {offset}: data go on after the {expected} bytes of its sizes", shown(path))]
    Oversized {
        /// The file.
        path: PathBuf,
        /// Where the surplus begins, in bytes from the start of the file.
        offset: u64,
        /// Bytes of data, uncompressed, that the header declares.
        expected: u64,
    },
    /// The file begins like none that is known.
    #[error(
        "{}, byte 0: not a volume of a known format (NRRD, NIfTI, VTI, MetaImage, NumPy); a file without a header needs its \
         layout",
        shown(path)
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// What was asked of the file does not fit it.
    #[error("{}: {}", shown(path), said(message))]
    Request {
        /// The file.
        path: PathBuf,
        /// What was wrong and what would be right.
        message: String,
    },
    /// A mesh cannot be written as it was asked, in whatever file.
    #[error("{}", said(message))]
    Mesh {
        /// What was wrong and what would be right.
        message: String,
    },
    /// Two pictures of different sizes were compared.
    #[error("a picture of {left_width} x {left_height} was compared with one of {right_width} x {right_height}")]
    Sizes {
        /// Width of the first.
        left_width: usize,
        /// Height of the first.
        left_height: usize,
        /// Width of the second.
        right_width: usize,
        /// Height of the second.
        right_height: usize,
    },
}

impl From<IoError> for zippy::Error {
    #[track_caller]
    fn from(error: IoError) -> Self {
        Self::other(error)
    }
}

impl IoError {
    /// What the operating system said about `path`, or which folder on the way to it is missing.
    pub fn system(path: &Path, action: &'static str, error: &std::io::Error) -> Self {
        Self::System { path: path.to_path_buf(), action, kind: error.kind(), message: describe_refusal(path, error) }
    }

    /// Content that breaks its format.
    pub fn malformed(path: &Path, offset: u64, message: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_path_buf(), offset, message: message.into() }
    }

    /// Content that is valid but not read here.
    pub fn unsupported(path: &Path, offset: u64, message: impl Into<String>) -> Self {
        Self::Unsupported { path: path.to_path_buf(), offset, message: message.into() }
    }

    /// A mesh that cannot be written so.
    pub fn mesh(message: impl Into<String>) -> Self {
        Self::Mesh { message: message.into() }
    }

    /// A request that does not fit the file.
    pub fn request(path: &Path, message: impl Into<String>) -> Self {
        Self::Request { path: path.to_path_buf(), message: message.into() }
    }
}
