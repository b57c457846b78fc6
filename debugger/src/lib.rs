//! The array viewer: what it asks a running program or a recording, and how it shows what it gets.
#![forbid(unsafe_code)]

pub mod app;
pub mod client;
pub mod comparison;
pub mod export;
pub mod info;
pub mod look;
pub mod script;
pub mod session;
pub mod shot;
