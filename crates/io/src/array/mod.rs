//! Global arrays ↔ files, by all ranks together. The ending of a file's name says the format ([`Format`]).
//!
//! | format | saved | loaded | metadata |
//! |---|---|---|---|
//! | NumPy (.npy) | arrays of 1 to 7 axes of every element type; records as structured types; one file, in which each rank writes its share | the same, and what NumPy has written of these types: numbers and vectors also in the other byte order, all also in Fortran order, booleans as `u8` | none is kept; a save with any but a name is refused |
//! | Zarr (.zarr) | arrays of every element type as stores of version 3: a directory, in which each rank writes whole chunks or shards, raw or compressed, with levels of detail; records by field; see [`zarr`] (feature `zarr`, on by default) | the same, and what others have written of these types, versions 2 and 3: raw, gzip, zstd, with checksums, in shards | all: names of axes as `dimension_names`, the rest as the attribute "zippy", attributes by their names |
//! | VTI (.vti) | arrays of 1 to 3 axes, with cells; numbers, vectors, and records as an array for each field (`outer.inner` in records of records); no 16-bit floats; one file, in which each rank writes its share | point data of 1 to 3 axes, as [`volume`](crate::volume) reads them | name, spacing, origin, directions; names and units of axes, and attributes, as texts of the field data |
//! | PVTI (.pvti) | as VTI, in a file for each chunk with cells and an index of them ([`save_with`] says how they are called) | as VTI, from an index and its pieces, also those of others | as VTI, in the index (VTK's own reader looks there for spacing and origin only) |
//! | NRRD (.nrrd, loaded also .nhdr) | arrays of 1 to 7 axes, with cells; numbers and vectors; no 16-bit floats, no records; one file, in which each rank writes its share | 1 to 7 axes and perhaps one before them for the numbers of a vector, as [`volume`](crate::volume) reads them | all: name (`content`), spacing, origin and directions (`space directions`, the last ones to within rounding), names and units of axes, attributes as key/value pairs |
//!
//! Axis 0 is the fastest one in memory: an array of shape `[x, y, z]` is one of shape `(z, y, x)` for NumPy, and cell
//! `[x, y, z]` its element `[z, y, x]`, in C order and in Fortran order. The numbers of a vector are a last axis there. A cell is a point of VTK's images; an axis that is missing has one point.
//!
//! A load returns the metadata of the save, except in these cases:
//!
//! * Directions along the axes of space are loaded as `None`.
//! * NRRD gives axes with directions alone a spacing of 1.
//! * A slice keeps its position in a larger space ([`Metadata::further_origin`]). Last dimensions
//!   of space in which all its cells have the coordinate 0 are removed.
//!
//! Attributes are written as JSON; text of others that is no JSON is loaded as text.

mod blocks;
mod describe;
mod format;
mod leaves;
mod load;
mod metadata;
mod nrrd;
mod options;
mod outline;
mod pieces;
mod plain;
mod plan;
mod save;
mod series;
mod source;
mod staging;
mod subsample;
#[cfg(test)]
mod tests;
mod vti;
mod window;
mod writer;
#[cfg(feature = "zarr")]
pub mod zarr;

pub use describe::{ArrayDescription, Description, describe};
pub use format::Format;
pub use load::{load, load_with};
pub use metadata::{Axis, Metadata};
pub use options::{LoadOptions, Loaded, SaveOptions};
pub use save::{save, save_with};
pub use series::{TimeSeries, TimeStep, time_steps};
pub use subsample::subsample;
