//! One-sided operations: any rank queues gets, puts and accumulates; a fence runs them in (rank,
//! sequence) order.

mod boxes;
mod calls;
mod epoch;
mod fetched;
mod local_copy;
mod requests;
mod send_requests;
mod serve_requests;

pub use self::calls::{IntoPutSource, PutSource};
pub(super) use self::epoch::Epoch;
pub use self::fetched::{Fetched, Ticket};
pub(super) use self::local_copy::{from_local, to_local};
