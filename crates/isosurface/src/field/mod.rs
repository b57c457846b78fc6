//! Field of samples as a source of surfaces and filters: chunks, bricks, and a tree of their
//! values.

pub(crate) mod attribute;
pub(crate) mod block;
pub(crate) mod bricked_chunk;
pub(crate) mod memory;
pub(crate) mod tree;
pub(crate) mod trilinear;
pub(crate) mod values;
pub(crate) mod view;
