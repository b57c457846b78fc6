//! Looking into a running program: the barrier at debug points, and what a viewer is told.

#[allow(dead_code, reason = "what serves a viewer calls it")]
mod moves;
pub mod protocol;
pub mod recording;
#[allow(dead_code, reason = "what serves a viewer calls it")]
mod timeline;

#[cfg(test)]
mod happening_tests;
