//! Compute kernels as machine code for the host's processors.
//!
//! A kernel is an entry point of a validated naga module. `lower` turns it into scalar operations
//! in structured control flow ([`ir`]), `ssa` replaces variables by values, and `emit` generates
//! machine code for rows of invocations, several lanes at a time.

pub mod ir;
pub mod math;
