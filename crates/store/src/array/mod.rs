//! Global arrays in files, saved and loaded by all ranks together. The extension of a file name
//! selects the format ([`Format`](zippy_io::array::Format)).
//!
//! * NumPy (.npy)
//!   * Saved: arrays of 1 to 7 axes of every element type, records as structured types; one file,
//!     each rank writes its share.
//!   * Loaded: the same types as written by NumPy: numbers and vectors in both byte orders, all
//!     types in C and Fortran order, booleans as `u8`.
//!   * Metadata: none is stored; a save with metadata other than a name is refused.
//! * Zarr (.zarr; feature `zarr`, on by default; see [`zarr`])
//!   * Saved: arrays of every element type as version 3 stores: a directory, each rank writes whole
//!     chunks or shards, raw or compressed, with levels of detail; records by field.
//!   * Loaded: the same types as written by any program, versions 2 and 3: raw, compressed, with
//!     checksums, in shards.
//!   * Metadata: all; names of axes as `dimension_names`, the rest as the attribute "zippy",
//!     attributes by their names.
//! * VTI (.vti)
//!   * Saved: non-empty arrays of 1 to 3 axes; numbers, vectors, and records as one array per field
//!     (`outer.inner` in nested records); no 16-bit floats; one file, each rank writes its share.
//!   * Loaded: point data of 1 to 3 axes, as read by [`volume`](zippy_io::volume).
//!   * Metadata: name, spacing, origin, directions; names and units of axes, and attributes, as
//!     texts of the field data.
//! * PVTI (.pvti)
//!   * Saved: as VTI, in one file per chunk with cells and an index (for file names see
//!     [`save_with`]).
//!   * Loaded: as VTI, from an index and its pieces, also those of other programs.
//!   * Metadata: as VTI, in the index (VTK's own reader only reads spacing and origin there).
//! * NRRD (.nrrd, loaded also .nhdr)
//!   * Saved: non-empty arrays of 1 to 7 axes; numbers and vectors; no 16-bit floats, no records;
//!     one file, each rank writes its share.
//!   * Loaded: 1 to 7 axes, with an optional first axis for the components of a vector, as read by
//!     [`volume`](zippy_io::volume).
//!   * Metadata: all; name (`content`), spacing, origin and directions (`space directions`, exact
//!     except for rounding), names and units of axes, attributes as key/value pairs.
//!
//! Axis 0 is the fastest in memory: an array of shape `[x, y, z]` has the shape `(z, y, x)` in
//! NumPy, and its cell `[x, y, z]` is the element `[z, y, x]` there, in C order and in Fortran
//! order. The components of a vector are an additional last axis in NumPy. In VTK a cell is a point
//! of an image, and a missing axis has one point.
//!
//! A load returns the metadata of the save, except in these cases:
//!
//! * Directions along the axes of space are loaded as `None`.
//! * NRRD gives axes with directions alone a spacing of 1.
//! * A slice keeps its position in a larger space
//!   ([`Metadata::further_origin`](zippy_io::array::Metadata::further_origin)). Last dimensions of
//!   space in which all its cells have the coordinate 0 are removed.
//!
//! Attributes are written as JSON; text of other programs that is no JSON is loaded as a string.

mod block_sender;
mod blocks;
mod describe;
mod load;
mod options;
mod pieces;
mod plan;
mod save;
mod selection;
mod series;
mod staging;
mod subsample;
mod supported;
#[cfg(test)]
mod tests;
#[cfg(feature = "zarr")]
pub mod zarr;

pub use describe::describe;
pub use load::{load, load_with};
pub use options::{LoadOptions, Loaded, SaveOptions};
pub use save::{save, save_with};
pub use series::TimeSeries;
pub use subsample::subsample;
