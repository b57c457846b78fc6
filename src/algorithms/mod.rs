//! Algorithms over global arrays: elementwise expressions and reductions.

pub mod elementwise;
pub mod reduce;
