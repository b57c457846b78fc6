//! File formats: readers of scanned volumes, writers of pictures and movies, readers and writers of
//! meshes and global arrays, and checkpoints.
//!
//! Functions of [`array`](mod@array) and [`checkpoint`] and methods of [`CollectiveFile`] are
//! collective unless they are documented as local. Everything else is local and does not
//! communicate: each rank opens the file and reads only its own part. Output files are written
//! atomically: they get their names when they are complete
//! ([`write_whole`](zippy_files::write_whole)), also files that several ranks write
//! ([`SharedFile`](zippy_files::SharedFile), on which `CollectiveFile` is based).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod apng;
pub mod array;
mod axis_order;
pub mod checkpoint;
mod collective;
mod error;
#[cfg(test)]
mod full_disk;
mod grid;
mod head;
pub mod image;
pub mod mesh;
mod metaimage;
mod nifti;
pub mod npy;
mod nrrd;
mod picture;
pub mod png;
mod raw;
mod scalar;
mod text;
pub mod volume;
mod voxels;
mod vti;

pub use collective::CollectiveFile;
pub use error::IoError;
