//! Compute kernels that are compared with an interpreter of naga's representation.
//!
//! * [`interpreter`]: the oracle, which depends on naga alone.
//! * [`compare`]: bitwise comparison of the interpreter with an executor.
//! * [`random`]: random kernels without data races, and the reduction of failing kernels.
//! * [`guarded`]: memory that traps past its end.
//! * [`machine_code`]: runs of kernels by the code generator.

pub mod compare;
pub mod guarded;
pub mod interpreter;
pub mod machine_code;
pub mod random;
