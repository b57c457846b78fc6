//! Comparison of the code generator with an interpreter of naga's representation, from the package
//! `zippy-testing`.

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
