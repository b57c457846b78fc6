//! Algorithms over arrays: elementwise expressions, reductions, and data-parallel primitives.

pub mod elementwise;
mod heads;
mod on_rank;
pub mod permute;
pub mod reduce;
pub mod scan;
mod sequence;
pub mod sort;

pub use on_rank::OnRank;
pub use sequence::Sequence;
