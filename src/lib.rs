//! Global arrays for GPU clusters. See README.md for a first program and DESIGN.md for why it is as it is.
#![warn(missing_docs)]

// Generated code says `::zippy`, inside this crate too.
extern crate self as zippy;

pub mod error;
pub mod extents;

pub mod element;
pub mod trace;

pub mod region;

pub mod chunks;
pub mod layout;
pub mod locate;
pub mod ownership;

pub mod oracle;
pub mod plan;

pub mod transport;

pub mod device;

pub mod array;
pub mod kernel;

pub mod world;

pub mod algorithms;

pub mod io;

pub use array::{GlobalArray, LocalArray};
pub use element::Element;
pub use error::{Error, Result};
pub use kernel::{Kernel, KernelSource};
pub use layout::{Layout, Split};
pub use ownership::Ownership;
/// The wgpu that Zippy uses, for what is done with [`World::gpu`] directly.
pub use wgpu;
#[cfg(feature = "mpi")]
pub use world::run_on;
pub use world::{Config, Moved, Operator, World, run, run_with};
pub use zippy_derive::Element;
