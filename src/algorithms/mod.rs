//! Algorithms over global arrays: elementwise expressions, reductions, volume rendering and the compositing of its pictures.

pub mod compositing;
pub mod elementwise;
pub mod image;
pub mod reduce;
pub mod volume;
