//! Data-parallel primitives over Zippy's arrays: scans, sorts, selections, merges, searches,
//! gathers, k-d trees and others, named as in Thrust, CUB and `std`.
//!
//! The trait [`Primitives`] adds them to a [`World`](zippy::World):
//!
//! * [`vectors`](Primitives::vectors) has collective primitives for distributed vectors, which are
//!   1-D global arrays.
//! * [`on_rank`](Primitives::on_rank) has local primitives for sequences of cells of one rank.
//!
//! ```
//! use zippy::{Layout, Operator, Split, World};
//! use zippy_primitives::Primitives;
//!
//! fn program(world: &World) -> zippy::Result<()> {
//!     let x = world.array::<u32, 1>("x", &Layout::new([8]).split([Split::Auto]))?;
//!     x.fill_with(|[i]| [3, 1, 4, 1, 5, 9, 2, 6][i as usize])?;
//!     world.vectors().sort(&x)?;
//!     assert_eq!(world.vectors().last(&x)?, Some(9));
//!     world.vectors().combine(&x, &Operator::Add).inclusive_scan(&x)?;
//!     assert_eq!(world.vectors().last(&x)?, Some(31));
//!     Ok(())
//! }
//! # zippy::run_with(zippy::Config::threads(3), program).unwrap();
//! ```
//!
//! The crate uses only public functions of `zippy`: see [`zippy::collective`].
//!
//! After C. Sewell, L. Lo, J. Ahrens, *Portable data-parallel visualization and analysis in
//! distributed memory environments* (LDAV 2013), and G. Blelloch, *Vector models for data-parallel
//! computing* (MIT Press, 1990).

pub mod amplify;
mod backend;
mod by_size;
mod heads;
pub mod histogram;
mod host_pairs;
mod host_primitives;
pub mod kdtree;
mod kernel_primitives;
pub mod merge;
mod numbers;
mod on_rank;
pub mod permute;
mod primitives;
mod query_ranks;
pub mod scan;
pub mod search;
pub mod segments;
pub mod select;
pub mod sort;
mod sort_key;
mod splitters;
mod vectors;

pub use on_rank::OnRank;
pub use primitives::Primitives;
pub use vectors::{IntoVector, Vector, Vectors};
