//! Algorithms over arrays: elementwise expressions and reductions.
//!
//! Scans, sorts and other data-parallel primitives are in the crate `zippy-primitives`.

pub mod elementwise;
pub mod reduce;
mod vector_loop;
