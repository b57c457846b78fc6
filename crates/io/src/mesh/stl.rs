//! Writer of binary STL files: independent triangles.

use super::rows::Rows;
use super::sections::FileSections;
use crate::IoError;

/// Content of the header. It must not begin with "solid", as text files do.
const HEADER: &[u8; 80] = b"binary STL, little-endian; each triangle: normal, three corners, two zero bytes.";

/// Bytes before the first triangle.
pub(super) const HEADER_BYTES: u64 = HEADER.len() as u64 + 4;

/// Lays out the file; more triangles than 32 bits can count are an error.
pub(super) fn lay(layout: &mut FileSections) -> Result<(), IoError> {
    let triangles = layout.content.whole.triangles;
    let Ok(count) = u32::try_from(triangles) else {
        let message = format!("{triangles} triangles; STL counts them in 32 bits, up to {}; VTP has 64", u32::MAX);
        return Err(IoError::mesh(message));
    };
    layout.put([&HEADER[..], &count.to_le_bytes()].concat())?;
    layout.rows(Rows::Facets)
}
