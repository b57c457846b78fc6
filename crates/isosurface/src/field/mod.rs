//! Field of samples as a source of surfaces and filters: chunks, bricks, and a tree of their
//! values.

pub mod attribute;
pub mod block;
pub mod bricked_chunk;
pub mod memory;
pub mod tree;
pub mod trilinear;
pub mod values;
pub mod view;
