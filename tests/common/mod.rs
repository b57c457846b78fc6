//! What several test programs share.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod analytic;
pub mod counting;
pub mod damage;
pub mod fsum;
pub mod nrrd;
pub mod samples;
pub mod units;
pub mod volumes;
pub mod vti;
