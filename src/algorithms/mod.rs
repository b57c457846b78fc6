//! Algorithms over global arrays: volume rendering and the compositing of its pictures.

pub mod compositing;
pub mod image;
pub mod volume;
