//! The array viewer: what it asks a running program or a recording, and how it shows what it gets.

pub mod app;
pub mod look;
pub mod session;
