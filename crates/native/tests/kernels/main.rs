//! Comparison of executors of kernels with an interpreter of naga's representation.
//!
//! * [`interpreter`]: the oracle, which depends on naga alone.
//! * [`compare`]: comparison of the interpreter with an executor, bit by bit.
//! * [`random`]: random kernels without data races, and the reduction of failing kernels.
//! * [`edges`]: each operator and built-in function, for numbers at the boundaries of its types.
//! * [`guarded`]: memory that traps past its end.
//! * [`rows`]: kernels with comparisons of positions, and bounds at the ends of rows.
//! * [`byte_extracts`]: kernels that extract bytes of words.
//! * `aarch64`: generation of code for AArch64.
//! * [`stopped`]: runs that are stopped.
//! * [`machine_code`]: runs of kernels by the code generator.
//! * [`native`]: tests of the code generator.
//! * [`cases`]: tests of the interpreter and of the comparison.

#[cfg(feature = "aarch64")]
mod aarch64;
mod byte_extracts;
mod cases;
mod compare;
mod edges;
mod guarded;
mod interpreter;
mod machine_code;
mod native;
mod random;
mod rows;
mod stopped;
