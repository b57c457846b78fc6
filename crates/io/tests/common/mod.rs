//! What several test programs share: files made on the spot.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod counting;
pub mod nrrd;
pub mod volumes;
pub mod vti;
