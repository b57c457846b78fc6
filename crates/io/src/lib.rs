//! File formats: readers of scanned volumes, writers of pictures and movies, readers and writers of
//! meshes and global arrays, and checkpoints.
//!
//! Functions of [`array`](mod@array) and [`checkpoint`] and methods of [`CollectiveFile`] are
//! collective unless they are documented as local. Everything else is local and does not
//! communicate: each rank opens the file and reads only its own part. Output files are written
//! atomically: they get their names when they are complete ([`write_whole`]), also files that
//! several ranks write ([`SharedFile`], on which `CollectiveFile` is based).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod apng;
pub mod array;
mod atomic;
mod axis_order;
pub mod checkpoint;
mod error;
mod files;
#[cfg(test)]
mod full_disk;
mod grid;
pub mod image;
pub mod json;
mod memory;
pub mod mesh;
mod metaimage;
mod nifti;
pub mod npy;
mod nrrd;
mod picture;
pub mod png;
mod process;
mod raw;
mod scalar;
mod store;
mod terminal_text;
mod text;
pub mod volume;
mod vti;

pub use atomic::{CollectiveFile, SharedFile, check_output, write_whole};
pub use error::IoError;
pub use terminal_text::{quoted, said, shown};
