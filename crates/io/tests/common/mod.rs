//! Shared code of the test programs: files created by tests.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod counting;
pub mod nrrd;
pub mod volumes;
pub mod vti;
