//! [`check_supported`]: formats that this build can read and write.

use std::path::Path;

use zippy_io::IoError;
use zippy_io::array::Format;

pub(super) fn check_supported(path: &Path) -> Result<(), IoError> {
    match Format::of(path)? {
        Format::Zarr if !cfg!(feature = "zarr") => {
            Err(IoError::request(path, "a Zarr store; this build is without the feature zarr of zippy-store"))
        }
        _ => Ok(()),
    }
}
