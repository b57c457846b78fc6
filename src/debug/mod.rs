//! Looking into a running program: the barrier at debug points, and what a viewer is told.

pub mod protocol;
pub mod recording;
