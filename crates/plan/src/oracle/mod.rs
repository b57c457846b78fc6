//! The oracle: plans executed on plain vectors, and what operations mean, computed without plans.
//!
//! [`execute`] runs the plans of all ranks on host memory as the world runs them on devices, in the least favourable
//! order that a plan permits: what a plan calls independent is done back to front, and what it does not call
//! overlapping is written as early as possible. [`truth`] says cell by cell what an operation does, by a map
//! from cells to values, without regions, chunks' indices or plans. A plan is right when both agree.

mod agree;
mod execute;
mod fence;
mod memory;
pub mod truth;

pub use agree::check;
pub use execute::{Operand, execute};
pub use fence::{Request, Verb, fence};
pub use memory::Memory;
