//! Algorithms over arrays: elementwise expressions, reductions, and data-parallel primitives.
//!
//! Primitives are named as in Thrust, CUB and `std`. [`World::vectors`](crate::World::vectors) has
//! collective primitives for distributed vectors, which are 1-D global arrays.
//! [`World::on_rank`](crate::World::on_rank) has local primitives for sequences of cells of one
//! rank.
//!
//! After C. Sewell, L. Lo, J. Ahrens, *Portable data-parallel visualization and analysis in
//! distributed memory environments* (LDAV 2013), and G. Blelloch, *Vector models for data-parallel
//! computing* (MIT Press, 1990).

pub mod amplify;
mod by_size;
pub mod elementwise;
mod heads;
pub mod histogram;
pub mod kdtree;
pub mod merge;
mod numbers;
mod on_rank;
pub mod permute;
mod query_ranks;
pub mod reduce;
pub mod scan;
pub mod search;
pub mod segments;
pub mod select;
pub mod sort;
mod vector_loop;
mod vectors;

pub use crate::array::{IntoSequence, Sequence};
pub use on_rank::OnRank;
pub use vectors::{IntoVector, Vector, Vectors};
