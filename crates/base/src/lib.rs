//! Errors, call sites, traces and element types: the types that all crates of Zippy share. Programs
//! use them through the package `zippy-ga`.

// The code that `derive(Element)` generates refers to `::zippy`.
#[cfg(test)]
extern crate self as zippy;

mod array_kind;
pub mod element;
pub mod error;
mod ghost_state;
pub mod process;
pub mod trace;

pub use array_kind::ArrayKind;
pub use element::Element;
pub use error::{Error, Result};
pub use ghost_state::GhostState;
pub use zippy_derive::Element;
