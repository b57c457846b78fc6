//! Kernels run by executors and by an interpreter of naga's representation, and compared.

mod cases;
mod compare;
mod edges;
mod interpreter;
mod random;
