//! Compute kernels as machine code for the host's processors.
//!
//! A kernel is an entry point of a validated naga module. [`lower`] turns it into scalar operations
//! in structured control flow ([`ir`]); `legal` expands functions ([`math`]) and halves; `stages`
//! cuts it at its barriers; `ssa` replaces variables by values, `number` evaluates equal values once,
//! `bytes` loads single bytes, and `advance` tests accesses before the first write; `shape` finds
//! how values differ between neighbouring invocations; and `emit` generates machine code for rows of
//! invocations, several lanes at a time.

mod advance;
mod bytes;
mod code;
mod compiled;
mod emit;
mod error;
mod groups;
mod interior;
pub mod ir;
mod legal;
pub mod lower;
pub mod math;
mod number;
mod prune;
mod shape;
mod ssa;
mod stages;
mod work;

pub use code::{Bytes, Stop};
pub use compiled::{Compiled, OneThread, Threads, Vectors};
pub use error::Error;
