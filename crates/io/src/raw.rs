//! Files without a header; the caller provides the layout.

use std::path::Path;

use zippy_files::{FileError, open_regular};

use super::scalar::{Endian, ScalarKind};
use super::voxels::{Claim, Description, Encoding, Segment, Stated};
use crate::IoError;

/// Layout of the voxels in a file without a header.
#[derive(Debug, Clone, PartialEq)]
pub struct RawLayout {
    /// Number of voxels along each of 1 to 3 axes, axis 0 fastest.
    pub shape: Vec<i64>,
    /// Type of the numbers.
    pub kind: ScalarKind,
    /// Numbers per voxel, adjacent.
    pub components: i64,
    /// Byte order of the numbers.
    pub endian: Endian,
    /// Bytes before the first voxel; uncompressed bytes in a gzip file.
    pub offset: u64,
    /// Distance between neighbouring voxels along each axis; empty: 1 everywhere.
    pub spacing: Vec<f64>,
    /// True for a gzip file.
    pub gzip: bool,
}

impl RawLayout {
    /// Layout of one little-endian number per voxel from the first byte, at distances of 1,
    /// uncompressed.
    pub fn new(shape: impl Into<Vec<i64>>, kind: ScalarKind) -> Self {
        let shape = shape.into();
        Self { shape, kind, components: 1, endian: Endian::Little, offset: 0, spacing: Vec::new(), gzip: false }
    }
}

/// Describes the volume; an error if the layout is no volume, the file cannot be opened or its
/// length does not fit.
pub(crate) fn open(path: &Path, layout: RawLayout) -> Result<Description, IoError> {
    if !layout.spacing.is_empty() && layout.spacing.len() != layout.shape.len() {
        let (count, axes) = (layout.spacing.len(), layout.shape.len());
        return Err(IoError::request(path, format!("{count} spacings were given for {axes} axes")));
    }
    let sizes = Stated::new(layout.shape, 0);
    let mut claim = Claim::plain(layout.kind, layout.endian == Endian::Big, sizes);
    claim.components.value = layout.components;
    claim.spacing = Some(Stated::new(layout.spacing, 0)).filter(|spacing| !spacing.value.is_empty());
    // The mistake is in the caller's layout, not at a byte of the file.
    let grid = claim.check(path).map_err(|error| match error {
        IoError::File(FileError::Malformed { message, .. } | FileError::Unsupported { message, .. }) => {
            IoError::request(path, format!("the layout given for it has {message}"))
        }
        other => other,
    })?;
    if !layout.gzip {
        let (wanted, found) = (layout.offset.saturating_add(grid.bytes()), open_regular(path)?.1);
        if wanted != found {
            let sizes = grid.shape.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
            let each = if grid.components == 1 { String::new() } else { format!("{} x ", grid.components) };
            let lead = if layout.offset == 0 { String::new() } else { format!("after {} bytes ", layout.offset) };
            let message =
                format!("{sizes} voxels of {each}{} {lead}need a file of {wanted} bytes; it has {found}", grid.kind);
            return Err(IoError::request(path, message));
        }
    }
    let (encoding, start, lead) =
        if layout.gzip { (Encoding::Gzip, 0, layout.offset) } else { (Encoding::Raw, layout.offset, 0) };
    let segment = Segment::to_the_end(path, start, encoding, lead, grid.bytes(), grid.kind)?;
    Ok(Description::single("raw", grid, segment))
}
