//! Live viewing of a running program over a real connection.

mod client;
mod doors;
mod looking;
mod recordings;
mod steps;
mod views;
