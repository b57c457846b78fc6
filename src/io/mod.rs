//! Files ↔ host memory: scanned volumes in, pictures out, scenes in.
//!
//! Everything here is local to the calling rank and knows no other rank: each rank opens the file and reads only
//! its own part. Output files are written whole under a temporary name and renamed.

mod atomic;
mod files;
mod metaimage;
mod nifti;
mod npy;
mod nrrd;
pub mod png;
mod raw;
mod scalar;
pub mod scene;
mod store;
mod text;
pub mod transfer;
pub mod volume;

pub use atomic::write_whole;
