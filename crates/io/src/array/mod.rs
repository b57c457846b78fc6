//! Global arrays ↔ files, by all ranks together.
//!
//! | format | saved | loaded |
//! |---|---|---|
//! | NumPy (.npy) | arrays of 1 to 7 axes of every element type; records as structured types; one file, in which each rank writes its share | the same, and what NumPy has written of these types: numbers and vectors also in the other byte order, numbers and records also in Fortran order, booleans as `u8` |
//! | Zarr (.zarr) | arrays of every element type as stores of version 3: a directory, in which each rank writes whole chunks or shards, raw or compressed, with levels of detail; records by field; see [`zarr`] (feature `zarr`, on by default) | the same, and what others have written of these types, versions 2 and 3: raw, gzip, zstd, with checksums, in shards |
//!
//! Axis 0 is the fastest one in memory: an array of shape `[x, y, z]` is one of shape `(z, y, x)` for NumPy. The numbers of a
//! vector are a last, fastest axis there.

mod blocks;
mod load;
mod metadata;
mod save;
mod staging;
#[cfg(test)]
mod tests;
#[cfg(feature = "zarr")]
pub mod zarr;

pub use load::load;
pub use metadata::{Axis, Metadata};
pub use save::save;
