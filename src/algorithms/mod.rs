//! Algorithms over arrays: elementwise expressions, reductions, and data-parallel primitives.

pub mod amplify;
pub mod elementwise;
mod heads;
pub mod histogram;
pub mod kdtree;
pub mod merge;
mod on_rank;
pub mod permute;
pub mod reduce;
pub mod scan;
pub mod search;
pub mod segments;
pub mod select;
pub mod sort;
mod vectors;

pub use crate::array::Sequence;
pub use on_rank::OnRank;
pub use vectors::{Vector, Vectors};
