//! [`Format`]: file formats of arrays.

use std::fmt;
use std::path::Path;

use zippy_files::quoted;

use crate::IoError;

/// File format of arrays, selected by the file name's extension without regard to case. A path
/// below a `.zarr` directory belongs to that store, except for files with one of the other
/// extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `.npy`: NumPy.
    Npy,
    /// `.zarr`: a Zarr store, which is a directory (feature `zarr` of `zippy-store`), or for
    /// loading a directory in one.
    Zarr,
    /// `.vti`: VTK image data in one file.
    Vti,
    /// `.pvti`: VTK image data, one file per chunk and an index.
    Pvti,
    /// `.nrrd`: a text header and the numbers. A `.nhdr`, which can only be loaded, has the numbers
    /// in another file.
    Nrrd,
}

impl Format {
    /// Format of a file name's extension.
    ///
    /// # Errors
    /// Another extension.
    pub fn of(path: impl AsRef<Path>) -> Result<Self, IoError> {
        let path = path.as_ref();
        let ending = |path: &Path| path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        // A node within a store; files there with other extensions have their own format.
        let is_within = path.ancestors().skip(1).any(|above| ending(above) == "zarr");
        let is_file = matches!(&*ending(path), "npy" | "vti" | "pvti" | "nrrd" | "nhdr") && !path.is_dir();
        let ending = if is_within && !is_file { "zarr".into() } else { ending(path) };
        match &*ending {
            "npy" => Ok(Self::Npy),
            "zarr" => Ok(Self::Zarr),
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
