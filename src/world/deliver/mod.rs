//! Delivery: every element names the rank that it goes to.
//!
//! Who sends to whom, and how much, is known to the senders only. So a delivery has two steps: ranks tell those that they
//! have something for how much it is (`Group::sparse_exchange`), and receivers make room; then the elements come in slices.

mod calls;
mod collective;
mod incoming;
mod outgoing;
mod sequence;
mod slices;
mod wire;

pub use self::calls::Delivered;
pub use self::outgoing::Destinations;
pub use self::sequence::Sequence;
