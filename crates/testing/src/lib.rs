//! Code shared by the tests, benchmarks and fuzzers of several packages. The package is not
//! published.
//!
//! * [`random`]: pseudo-random numbers.
//! * [`launcher`]: runs of a test binary under the MPI launcher.
//! * [`again`]: runs of a test binary in a separate process.
//! * [`running`]: child processes.
//! * [`shaders`]: shaders of a crate and their reference versions.
//! * `kernels`: random compute kernels, and an interpreter for them (feature `kernels`).
//! * `log`: log messages of a thread (feature `logs`).
//! * `oracle`: execution of plans on vectors, and operations without plans (feature `plans`).
//! * `plans`: random layouts, owners and regions (feature `plans`).
//! * `screen`: a virtual screen (feature `screens`).
//! * `cells`, `ghosts`, `jobs`, `worlds`: programs on ranks (feature `worlds`).

#![allow(missing_docs, reason = "read by the authors of tests, next to the source")]

pub mod again;
#[cfg(feature = "worlds")]
pub mod cells;
#[cfg(feature = "worlds")]
pub mod ghosts;
#[cfg(feature = "worlds")]
pub mod jobs;
#[cfg(feature = "kernels")]
pub mod kernels;
pub mod launcher;
#[cfg(feature = "logs")]
pub mod log;
#[cfg(feature = "plans")]
pub mod oracle;
#[cfg(feature = "plans")]
pub mod plans;
pub mod random;
pub mod running;
#[cfg(feature = "screens")]
pub mod screen;
pub mod shaders;
#[cfg(feature = "worlds")]
mod worlds;

pub use again::{alone, is_alone};
#[cfg(feature = "worlds")]
pub use worlds::{RANKS, computes_natively, groups, groups_with, ranks, rerun_by_native_kernels, seed};
