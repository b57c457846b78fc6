//! Kernels beside an interpreter of naga's representation.

mod cases;
mod compare;
mod interpreter;
mod native;
mod random;
