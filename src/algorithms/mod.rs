//! Algorithms over arrays: elementwise expressions, reductions, and data-parallel primitives.

pub mod amplify;
mod by_size;
pub mod elementwise;
mod heads;
pub mod histogram;
pub mod merge;
mod on_rank;
pub mod permute;
pub mod reduce;
pub mod scan;
pub mod search;
pub mod segments;
pub mod select;
mod sequence;
pub mod sort;

pub use on_rank::OnRank;
pub use sequence::Sequence;
