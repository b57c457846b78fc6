//! Files ↔ host memory: scanned volumes and scenes in, pictures and movies out.
//!
//! Everything here is local to the calling rank and knows no other rank: each rank opens the file and reads only
//! its own part. Output files appear when they are whole ([`write_whole`]).

pub mod apng;
mod atomic;
mod files;
pub mod json;
mod metaimage;
mod nifti;
pub mod npy;
mod nrrd;
mod picture;
pub mod png;
mod raw;
mod scalar;
pub mod scene;
mod store;
mod text;
pub mod transfer;
pub mod volume;
mod vti;

pub use atomic::write_whole;
