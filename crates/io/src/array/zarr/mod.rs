//! Global arrays in Zarr stores: directories of many files, one for each block of cells, that zarr-python, xarray, napari and
//! other programs open.
//!
//! They are saved by [`save_with`](crate::array::save_with) and loaded by [`load_with`](crate::array::load_with). What is
//! written, for an array called "density":
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
//!   names axes or directions. Slices in a larger space also have `further_origin`. The numbers of
//!   a direction and of `further_origin` are in the order of the dimensions of space.
//! * An axis with a name, of at most 1,048,576 cells, has an array of one dimension beside (beside the fields of a record, if
//!   none has the name), of the same name, in f64: the place of each cell, with the attribute `units`. There are none where
//!   the axes have directions other than those of space.
//! * The user's attributes are the array's, by their own names.
//!
//! The attribute "ome" follows OME-Zarr 0.5. It is written where there are levels and where OME-Zarr has words for the axes: two
//! or three of space, before which one of channels ("c", "channel") or of any other name and one of time ("t", "time") may
//! stand. It is not written for vectors, records, or axes with directions other than those of
//! space. Abbreviations of common units are written out, as OME-Zarr wants them.
//!
//! # Saving
//!
//! Each chunk has a checksum, by which a load finds damage, unless [`ZarrOptions::checksum`] is off.
//! Every rank encodes and writes whole chunks or shards, whatever the cut of the array. On return all of it is on the disk, under
//! its name. A store that was there is replaced as a whole, with everything in it: on Linux in one step where the file system
//! can exchange two directories (ext4, XFS, Btrfs, tmpfs and others can; NFS cannot). Elsewhere there is a moment without a
//! store, between two renamings: a process that is killed then leaves the old one in a directory ".zippy-(...).tmp" beside, where
//! it stays. One that is killed before leaves a half new one there, which goes with the next save into the directory. What is
//! under the name and neither a Zarr store nor an empty directory is never replaced.
//!
//! It needs on each rank's host up to five chunks (shards, where there are shards). Where a chunk of the store is not all in one
//! chunk of the array of the rank that writes it, the device of each rank needs one, too, as well as what an exchange of so
//! much stages (at most `ZIPPY_MESSAGE` at a time). Arrays called "zippy_io: blocks of", and then its name, or
//! "zippy_io: level 1 of" and so on, must not be there already.
//!
//! # Loading
//!
//! Stores of version 3 and 2. Every rank reads the chunks that its cells are in. Numbers are of the same type, in either byte
//! order; booleans are read as `u8`. Chunks can be raw or compressed by Blosc (but with Snappy), gzip, LZ4, zlib or zstd, with or
//! without checksums, by themselves or in shards, which can be in shards, in any order of axes. A chunk that is missing means the
//! fill value; a warning says so where files lie in the array and none has the name of a chunk. A link to nothing is an error. Not
//! read are other codecs, chunks that do not hold all numbers of a vector, and chunks of more than 1 GiB; in shards of any size
//! only those that are wanted are read. Where no array is named and the store has one only, at whatever depth, it is that one. A store that is replaced or removed while it is read is an error on every rank.
//!
//! It needs on each rank's host up to three chunks for each field of the cells, the index of a shard, and 8 MiB.
//!
//! ```
//! use zippy::{Layout, Split};
//! use zippy_io::array::{LoadOptions, SaveOptions, load_with, save_with, zarr};
//!
//! let path = std::env::temp_dir().join(format!("zippy-doc-{}.zarr", std::process::id()));
//! zippy::run_with(zippy::Config::threads(2), |world| {
//!     let array = world.array::<f32, 2>("density", &Layout::new([5, 4]).split_all(Split::Auto))?;
//!     array.fill_with(|[x, y]| (10 * x + y) as f32)?;
//!     let options = zarr::ZarrOptions::new().compression(zarr::Compression::Zstd(3));
//!     save_with(world, &path, &array, &SaveOptions::new().zarr(options))?;
//!
//!     // Every second cell, cut in another way.
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
mod describe;
mod directory;
mod document;
mod encode;
mod fields;
mod flusher;
mod generation;
mod keys;
mod layers;
mod load;
mod node;
mod ome;
mod open;
mod options;
mod read;
mod save;
mod second;
mod shards;
mod stored;
#[cfg(test)]
mod tests;
mod values;

pub(super) use describe::describe;
pub(super) use load::load;
pub use options::{Compression, ZarrOptions};
pub(super) use save::save;
