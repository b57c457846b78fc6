//! Files: scanned volumes in, pictures and movies out, meshes in and out, and global arrays in and out; checkpoints.
//!
//! Functions of [`array`](mod@array), of [`checkpoint`] and [`CollectiveFile`] are collective, but where they say that they are
//! local. Everything else is local to the calling rank and knows no other rank: each rank opens the file and reads only its
//! own part. Output files appear when they are whole ([`write_whole`]), one that several ranks write, too ([`SharedFile`], of
//! which `CollectiveFile` is made).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod apng;
pub mod array;
mod atomic;
mod axis_order;
pub mod checkpoint;
mod error;
mod files;
mod foreign;
#[cfg(test)]
mod full_disk;
pub mod image;
pub mod json;
mod memory;
pub mod mesh;
mod metaimage;
mod nifti;
pub mod npy;
mod nrrd;
mod picture;
mod placing;
pub mod png;
mod process;
mod raw;
mod scalar;
mod store;
mod text;
pub mod volume;
mod vti;

pub use atomic::{CollectiveFile, SharedFile, check_output, write_whole};
pub use error::IoError;
pub use foreign::{quoted, said, shown};
