//! Global arrays in Zarr stores: directories of many files, one for each block of cells, that zarr-python, xarray, napari and
//! other programs open.
//!
//! What [`save`] writes, for an array called "density":
//!
//! ```text
//! engine.zarr/zarr.json             a group; its attribute "ome" lists the levels of detail, where there are any
//! engine.zarr/density/zarr.json     the array; the user's attributes
//! engine.zarr/density/c/2/0/1       a chunk, or a shard of several chunks
//! engine.zarr/x/                    the places of cells along an axis, as xarray wants them
//! engine.zarr/levels/1/density/     every second cell along each axis; levels/2: every fourth
//! ```
//!
//! Axis 0 is the fastest one in memory and the last dimension of Zarr: a shape `[x, y, z]` is `(z, y, x)` there. Vectors have
//! one more, last dimension, "component_2" by the number of their components. A record is a group with an array for each of its
//! fields, a record in a record a group in that group.
//!
//! What [`Metadata`](crate::array::Metadata) says is kept so:
//!
//! * Names of axes are `dimension_names`. An axis without a name is called "x", "y", "z", "axis_3" and so on.
//! * The attribute "zippy" of the array (of the group, for records) has `names`, `units`, `spacing` and `origin`, each with one
//!   entry for each axis in the order of Zarr's dimensions (slowest first), and `directions`. It is there where the metadata
//!   names axes or directions.
//! * An axis with a name, of at most 1,048,576 cells, has an array of one dimension beside (beside the fields of a record, if
//!   none has the name), of the same name, in f64: the place of each cell, with the attribute `units`.
//! * The user's attributes are the array's, by their own names.
//!
//! The attribute "ome" follows OME-Zarr 0.5. It is written where there are levels and where OME-Zarr has words for the axes: two
//! or three of space, before which one of channels ("c", "channel") or of any other name and one of time ("t", "time") may
//! stand, and no vectors nor records. Abbreviations of common units are written out, as OME-Zarr wants them.

mod axes;
mod coordinates;
mod decode;
mod describe;
mod directory;
mod document;
mod encode;
mod fields;
mod flusher;
mod levels;
mod load;
mod node;
mod ome;
mod open;
mod options;
mod read;

mod save;
mod stored;
#[cfg(test)]
mod tests;
mod wanted;

pub use describe::{Described, describe};
pub use load::load;
pub use options::{Compression, ZarrOptions};
pub use save::save;
