//! [`IoError`]: errors of volumes, meshes and pictures in files.

use std::path::{Path, PathBuf};

use zippy_files::{FileError, said, shown};

/// Error of reading or writing a volume, a mesh or a picture. Messages escape control characters
/// and shorten long texts, because a file can contain them.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// The file cannot be read or written, or its content is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// The first bytes of the file match no known format.
    #[error(
        "{}, byte 0: not a volume of a known format (NRRD, NIfTI, VTI, MetaImage, NumPy); a file without a header needs its \
         layout",
        shown(path)
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The mesh cannot be written, whatever the file format.
    #[error("{}", said(message))]
    Mesh {
        /// The mistake and the correct form.
        message: String,
    },
    /// Two compared pictures have different sizes.
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

impl From<IoError> for zippy_base::Error {
    /// A [`FileError`] keeps its type.
    #[track_caller]
    fn from(error: IoError) -> Self {
        match error {
            IoError::File(error) => error.into(),
            other => Self::other(other),
        }
    }
}

impl IoError {
    /// Operating system error, as [`FileError::system`].
    pub fn system(path: &Path, action: &'static str, error: &std::io::Error) -> Self {
        FileError::system(path, action, error).into()
    }

    /// Content that breaks its format.
    pub fn malformed(path: &Path, offset: u64, message: impl Into<String>) -> Self {
        FileError::malformed(path, offset, message).into()
    }

    /// Valid content that is not supported.
    pub fn unsupported(path: &Path, offset: u64, message: impl Into<String>) -> Self {
        FileError::unsupported(path, offset, message).into()
    }

    /// Request that does not fit the file.
    pub fn request(path: &Path, message: impl Into<String>) -> Self {
        FileError::request(path, message).into()
    }

    /// Mesh that cannot be written.
    pub fn mesh(message: impl Into<String>) -> Self {
        Self::Mesh { message: message.into() }
    }
}
