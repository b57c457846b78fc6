//! Global arrays in Zarr stores: directories with one file per block of cells, which zarr-python,
//! xarray, napari and other programs open.
//!
//! [`save_with`](crate::array::save_with) writes them and [`load_with`](crate::array::load_with)
//! reads them. Files of an array called "density":
//!
//! ```text
//! engine.zarr/zarr.json             a group; its attribute "ome" lists any levels of detail
//! engine.zarr/density/zarr.json     the array and the user's attributes
//! engine.zarr/density/c/2/0/1       a chunk, or a shard of several chunks
//! engine.zarr/x/                    coordinates of the cells along an axis, as xarray expects them
//! engine.zarr/levels/1/density/     every second cell along each axis; levels/2: every fourth
//! ```
//!
//! Axis 0 is the fastest in memory and the last dimension in Zarr: a shape `[x, y, z]` is `(z, y,
//! x)` there. Vectors have an additional last dimension, for example "component_2" for 2
//! components. A record is a group with one array per field; a record in a record is a group in
//! that group.
//!
//! [`Metadata`](zippy_io::array::Metadata) is stored as follows:
//!
//! * Names of axes are `dimension_names`. An axis without a name is called "x", "y", "z", "axis_3"
//!   and so on.
//! * The attribute "zippy" of the array (for records, of the group) has `names`, `units`, `spacing`
//!   and `origin`, each with one entry per axis in the order of Zarr's dimensions (slowest first),
//!   and `directions`. It is written if the metadata has axes or directions. Slices in a larger
//!   space also have `further_origin`. The numbers of a direction and of `further_origin` are in
//!   the order of the dimensions of space.
//! * A named axis of at most 1,048,576 cells has a one-dimensional f64 array of the same name next
//!   to the array (for a record, next to its fields, unless a field has that name): the coordinate
//!   of each cell, with the attribute `units`. Coordinates are not written for axes with directions
//!   other than those of space.
//! * The user's attributes are attributes of the array, under their own names.
//!
//! The attribute "ome" follows OME-Zarr 0.5. It is written if there are levels and OME-Zarr can
//! describe the axes: two or three axes of space, optionally after one axis of channels ("c",
//! "channel") or of any other name and one of time ("t", "time"). It is not written for vectors,
//! records, or axes with directions other than those of space. Abbreviations of common units are
//! written out, as OME-Zarr requires.
//!
//! # Saving
//!
//! Each chunk has a checksum, by which a load finds damage, unless [`ZarrOptions::checksum`] is
//! off. Every rank encodes and writes whole chunks or shards, whatever the cut of the array. On
//! return the store is on the disk under its final name.
//!
//! An existing store is replaced as a whole. On Linux the replacement is atomic if the file system
//! can swap two directories (ext4, XFS, Btrfs, tmpfs and others can; NFS cannot). Elsewhere there
//! is a moment without a store, between two renames: a process that is killed then leaves the old
//! store in a directory ".zippy-(...).tmp" in the same parent, where it stays. A process that is
//! killed earlier leaves an incomplete new store there, which the next save into the parent
//! directory removes. A file, or a directory that is neither a Zarr store nor empty, is never
//! replaced.
//!
//! Each rank's host needs memory for up to five chunks (or shards). If a chunk of the store is not
//! in one array chunk of the rank that writes it, each rank's device also needs memory for one, and
//! the staging of the exchange (at most `ZIPPY_MESSAGE` at a time). Arrays named "zippy_io: blocks
//! of", or "zippy_io: level 1 of" and so on, followed by the array's name, must not exist yet.
//!
//! # Loading
//!
//! Loads stores of version 3 and 2. Every rank reads the chunks that overlap its cells. The number
//! type must match, in either byte order; booleans are read as `u8`.
//!
//! * Chunks may be raw or compressed by Blosc (without Snappy), gzip, LZ4, zlib or zstd, with or
//!   without checksums, in files of their own or in nested shards, in any order of axes.
//! * A missing chunk has the fill value. A warning reports an array with files none of which has
//!   the name of a chunk. A dangling link is an error.
//! * Not supported: other codecs, chunks that do not contain all numbers of a vector, and chunks of
//!   more than 1 GiB. Shards may have any size; only the required chunks are read.
//! * Without a name in the options, the store's only array is loaded, at any depth.
//! * A store that is replaced or removed during the load is an error on every rank.
//!
//! Each rank's host needs memory for up to three chunks per field of the cells, the index of a
//! shard, and 8 MiB.
//!
//! ```
//! use zippy::{Layout, Split};
//! use zippy_store::array::{LoadOptions, SaveOptions, load_with, save_with, zarr};
//!
//! let path = std::env::temp_dir().join(format!("zippy-doc-{}.zarr", std::process::id()));
//! zippy::run_with(zippy::Config::threads(2), |world| {
//!     let array = world.array::<f32, 2>("density", &Layout::new([5, 4]).split_all(Split::Auto))?;
//!     array.fill_with(|[x, y]| (10 * x + y) as f32)?;
//!     let options = zarr::ZarrOptions::new().compression(zarr::Compression::Zstd(3));
//!     save_with(world, &path, &array, &SaveOptions::new().zarr(options))?;
//!
//!     // Every second cell, with another cut.
//!     let whole = |shape| Layout::new(shape).split_all(Split::Whole);
//!     let options = LoadOptions::new().array("density").step([2, 2]);
//!     let half = load_with::<f32, 2>(world, &path, "half", &options, whole)?.array;
//!     assert_eq!(half.shape(), [3, 2]);
//!     for chunk in half.chunks() {
//!         assert_eq!(chunk.at([2..3, 1..2]).read()?, [42.0]);
//!     }
//!     Ok(())
//! })?;
//! # std::fs::remove_dir_all(&path).unwrap();
//! # Ok::<(), zippy::Error>(())
//! ```

mod axes;
mod blosc;
mod coordinates;
mod decode;
mod decompress;
mod describe;
mod directory;
mod document;
mod encode;
mod fields;
mod flusher;
mod identity;
mod keys;
mod layers;
mod load;
mod node;
mod ome;
mod open;
mod options;
mod read;
mod save;
mod shards;
mod stored;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod version_2;

pub(super) use describe::describe;
pub(super) use load::load;
pub use options::{Compression, ZarrOptions};
pub(super) use save::save;
