//! Shared code of the test programs: files created by tests.
#![allow(dead_code, reason = "each test program uses its own part")]

pub(crate) mod counting;
pub(crate) mod nrrd;
pub(crate) mod volumes;
pub(crate) mod vti;
