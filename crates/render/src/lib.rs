//! Sort-last volume rendering over global arrays: each rank casts rays through its own chunks, and the partial pictures are
//! composited into one (section 5.1 of the Zippy paper).
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod compositing;
mod error;
pub mod scene;
pub mod transfer;
pub mod volume;

pub use error::RenderError;
