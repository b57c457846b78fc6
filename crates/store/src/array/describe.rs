use std::path::Path;

use zippy_io::IoError;
#[cfg(feature = "zarr")]
use zippy_io::array::Format;
use zippy_io::array::{Description, describe_header};

use super::supported::check_supported;
#[cfg(feature = "zarr")]
use super::zarr;

/// Describes a file without reading its cells; the file name's extension selects the format
/// ([`Format`](zippy_io::array::Format)). Local.
pub fn describe(path: impl AsRef<Path>) -> Result<Description, IoError> {
    let path = path.as_ref();
    #[cfg(feature = "zarr")]
    if Format::of(path)? == Format::Zarr {
        return Ok(zarr::describe(path)?);
    }
    check_supported(path)?;
    describe_header(path)
}
