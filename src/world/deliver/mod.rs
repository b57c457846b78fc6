//! Delivery: every element goes to the destination rank given for it.
//!
//! Only the senders know the destinations and counts. They first send the counts to their
//! receivers, which allocate memory. The elements follow in messages of bounded size.

mod calls;
mod column;
mod delivery;
mod incoming_cells;
mod message_form;
mod outgoing_cells;
mod portion;

pub use self::calls::Delivered;
pub use self::column::Column;
pub use self::incoming_cells::{DeliveredCells, DeliveryTarget};
pub use self::outgoing_cells::{Destinations, IntoDestinations};
