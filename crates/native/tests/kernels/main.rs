//! Comparison of the code generator with an interpreter of naga's representation, which is in the
//! package `zippy-testing`.
//!
//! * [`edges`]: each operator and built-in function, for numbers at the boundaries of its types.
//! * [`rows`]: kernels with comparisons of positions, and bounds at the ends of rows.
//! * [`byte_extracts`]: kernels that extract bytes of words.
//! * `aarch64`: generation of code for AArch64.
//! * [`stopped`]: runs that are stopped.
//! * [`native`]: tests of the code generator.
//! * [`cases`]: tests of the interpreter and of the comparison.

#[cfg(feature = "aarch64")]
mod aarch64;
mod byte_extracts;
mod cases;
mod edges;
mod native;
mod rows;
mod stack;
mod stopped;

use zippy_testing::kernels::{compare, interpreter, machine_code, random};
