//! File formats on the host: readers of scanned volumes, writers of pictures and movies, readers
//! and writers of meshes, and byte layouts of arrays.
//!
//! This crate depends on neither ranks nor devices. All functions are local: each rank opens the
//! file and reads only its own part. Output files are written atomically: they get their names when
//! they are complete ([`write_whole`](zippy_files::write_whole)), also files that several ranks
//! write ([`SharedFile`](zippy_files::SharedFile)).
#![forbid(unsafe_code)]

pub mod apng;
pub mod array;
mod axis_order;
mod error;
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

pub use error::IoError;
