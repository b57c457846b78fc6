//! What several test programs share.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod analytic;
pub mod scenes;
pub mod units;
