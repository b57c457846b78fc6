//! Delivery: every element names the rank that it goes to.
//!
//! Who sends to whom, and how much, is known to the senders only. So they first tell those for whom they have something how
//! much it is, and receivers make room; then the elements come in messages of bounded length.

mod calls;
mod collective;
mod columns;
mod departing;
mod landing;
mod message;
mod portions;

pub use self::calls::Delivered;
pub(crate) use self::columns::Column;
pub use self::departing::{Destinations, IntoDestinations};
pub(crate) use self::landing::Destined;
