//! [`Description`]: summary of a file of arrays.

use zippy_files::FileError;

use super::format::Format;
use super::metadata::Metadata;

/// Summary of a file of arrays.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// Format of the file.
    pub format: Format,
    /// Arrays in the file: any number in VTI, PVTI and Zarr, else one.
    pub arrays: Vec<ArrayDescription>,
    /// Metadata of the file. For VTI and PVTI it has three axes or none. For Zarr it belongs to the
    /// array that a load without a name selects; empty if a name is required. Its name is that of
    /// the file's only array, or of records with one array per field.
    pub metadata: Metadata,
}

/// Summary of an array in a file.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ArrayDescription {
    /// Name in the file; in a Zarr store a path such as "density" or "levels/1/density", or "" if
    /// the store is one array.
    pub name: Option<String>,
    /// Cells along each axis, axis 0 fastest. In NumPy and Zarr the numbers of a vector count as
    /// axis 0. VTK arrays have three axes.
    pub shape: Vec<i64>,
    /// Rust type of a cell, such as `f32` or `[f32; 3]`. For NumPy records and unsupported types,
    /// the type as written in the file.
    pub element: String,
    /// Zarr only: extents of a file's cells (a chunk or a shard), axis 0 first. Empty for other
    /// formats and for irregular grids.
    pub chunk: Vec<i64>,
    /// Zarr only: codecs in the order of encoding; codecs within shards follow the codec of the
    /// shards.
    pub codecs: Vec<String>,
    /// Zarr only: error of an unreadable array document; all other fields except the name are then
    /// empty.
    pub error: Option<FileError>,
}

impl Description {
    /// Creates a summary.
    pub fn new(format: Format, arrays: Vec<ArrayDescription>, metadata: Metadata) -> Self {
        Self { format, arrays, metadata }
    }
}
