//! Looking into a running program: the barrier at debug points, and what a viewer is told.

mod described;
pub mod protocol;
pub mod recording;
