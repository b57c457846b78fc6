//! Algorithms over global arrays: reductions, volume rendering and the compositing of its pictures.

pub mod compositing;
pub mod image;
pub mod reduce;
pub mod volume;
