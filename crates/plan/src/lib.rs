//! What moves between the chunks of global arrays, as data: regions, layouts, owners and plans, and an executor on plain
//! vectors that every plan is held against.
//!
//! Nothing here knows a GPU or a message. The library `zippy` carries plans out; it re-exports these modules, and its users
//! need not name this crate.
//!
//! | layer | modules |
//! |---|---|
//! | 0 | [`error`], [`extents`], [`grid`] |
//! | 1 | [`region`] |
//! | 2 | [`layout`], [`chunks`], [`ownership`], [`locate`] |
//! | 3 | [`plan`], [`oracle`] |
#![forbid(unsafe_code)]
#![warn(missing_docs)]

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
