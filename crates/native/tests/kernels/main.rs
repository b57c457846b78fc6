//! Kernels beside an interpreter of naga's representation.

mod cases;
mod compare;
mod edges;
mod interpreter;
mod random;
