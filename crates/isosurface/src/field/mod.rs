//! A field of samples as its surfaces and filters see it: parts, bricks, a tree of their values.

pub mod attribute;
pub mod block;
pub mod memory;
pub mod part;
pub mod tree;
pub mod trilinear;
pub mod values;
pub mod view;
