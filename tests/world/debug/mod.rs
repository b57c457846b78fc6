//! Live viewing of a running program over a real connection.

mod client;
mod connections;
mod queries;
mod recordings;
mod steps;
mod views;
