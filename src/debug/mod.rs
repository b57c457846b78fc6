//! Looking into a running program: the barrier at debug points, and what a viewer is told.

#[allow(dead_code)]
mod compare;
#[cfg(test)]
mod compare_tests;
mod condition;
mod described;
#[allow(dead_code)]
mod measure;
#[cfg(test)]
mod measure_tests;
pub mod protocol;
pub mod recording;
#[allow(dead_code)]
mod summary;

pub use condition::Condition;
