//! Plans of data movement between the chunks of global arrays: regions, layouts, ownerships and
//! plans.
//!
//! This crate uses no GPU and sends no messages. The library `zippy` executes plans and re-exports
//! these modules.
//!
//! | layer | modules |
//! |---|---|
//! | 0 | [`error`], [`extents`]; [`Grid`] |
//! | 1 | [`region`] |
//! | 2 | [`layout`], [`chunks`], [`ownership`], [`locate`] |
//! | 3 | [`plan`] |
#![forbid(unsafe_code)]

pub mod error;
pub mod extents;
mod grid;

pub use grid::Grid;

pub mod region;

pub mod chunks;
pub mod layout;
pub mod locate;
pub mod ownership;

pub mod plan;
