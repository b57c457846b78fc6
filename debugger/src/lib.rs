//! The array viewer: requests to a running program or a recording, and the display of the answers.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "a library for the program and its tests only")]

pub mod app;
pub mod client;
pub mod comparison;
pub mod export;
pub mod imaging;
pub mod info;
pub mod script;
pub mod session;
