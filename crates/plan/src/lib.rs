//! Plans of data movement between the chunks of global arrays: regions, layouts, ownerships and
//! plans, and a reference executor on vectors for tests.
//!
//! This crate uses no GPU and sends no messages. The library `zippy` executes plans and re-exports
//! these modules.
//!
//! | layer | modules |
//! |---|---|
//! | 0 | [`error`], [`extents`], [`grid`] |
//! | 1 | [`region`] |
//! | 2 | [`layout`], [`chunks`], [`ownership`], [`locate`] |
//! | 3 | [`plan`], [`oracle`] |
#![forbid(unsafe_code)]

pub mod error;
pub mod extents;
pub mod grid;

pub mod region;

pub mod chunks;
pub mod layout;
pub mod locate;
pub mod ownership;

pub mod oracle;
pub mod plan;
