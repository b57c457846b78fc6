//! Test oracle: execution of plans on vectors, and the semantics of operations without plans. A
//! plan is correct if both results are equal.
//!
//! [`execute`] runs the plans of all ranks on host memory in the most unfavourable order that a
//! plan permits: independent moves run in reverse order, and writes without `overlap` run as early
//! as possible. [`truth`] computes the result of an operation cell by cell, with a map from cells
//! to values.

mod agree;
mod execute;
mod fence;
mod memory;
pub mod truth;

pub use agree::check;
pub use execute::{Operand, execute};
pub use fence::{Request, Verb, fence};
pub use memory::Memory;
