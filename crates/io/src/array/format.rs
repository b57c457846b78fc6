//! [`Format`]: which format a file of an array has.

use std::fmt;
use std::path::Path;

use crate::{IoError, quoted};

/// A format of files of arrays. The ending of a file's name says it, capital letters or not; what is in a directory whose name
/// ends with `.zarr` is a part of a store, but files whose names end with one of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `.npy`: NumPy.
    Npy,
    /// `.zarr`: a Zarr store, a directory (feature `zarr`), or for loading a directory in one.
    Zarr,
    /// `.vti`: VTK's image data in one file.
    Vti,
    /// `.pvti`: VTK's image data in a file for each chunk, and an index of them.
    Pvti,
    /// `.nrrd`: a text header and the numbers behind it. With `.nhdr`, which is loaded only, these are in another file.
    Nrrd,
}

impl Format {
    /// The format that the ending of a file's name says.
    ///
    /// # Errors
    /// It is none of those above.
    pub fn of(path: impl AsRef<Path>) -> Result<Self, IoError> {
        let path = path.as_ref();
        let ending = |path: &Path| path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        // A node within a store; what lies there as a file has its own format.
        let is_within = path.ancestors().skip(1).any(|above| ending(above) == "zarr");
        let is_file = matches!(&*ending(path), "npy" | "vti" | "pvti" | "nrrd" | "nhdr") && !path.is_dir();
        let ending = if is_within && !is_file { "zarr".into() } else { ending(path) };
        match &*ending {
            "npy" => Ok(Self::Npy),
            "zarr" if cfg!(feature = "zarr") => Ok(Self::Zarr),
            "zarr" => Err(IoError::request(path, "a Zarr store; this build is without the feature zarr of zippy-io")),
            "vti" => Ok(Self::Vti),
            "pvti" => Ok(Self::Pvti),
            "nrrd" | "nhdr" => Ok(Self::Nrrd),
            other => {
                let message = format!(
                    "a name with the ending {}; the name of a file of an array must end with .npy, .zarr, .vti, .pvti or .nrrd",
                    quoted(other)
                );
                Err(IoError::request(path, message))
            }
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Npy => "NumPy",
            Self::Zarr => "Zarr",
            Self::Vti => "VTI",
            Self::Pvti => "PVTI",
            Self::Nrrd => "NRRD",
        })
    }
}
