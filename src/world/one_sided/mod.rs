//! One-sided operations: get, put and accumulate queued by any rank, run by the fence in (rank, sequence) order.

mod asking;
mod boxes;
mod calls;
mod epoch;
mod fetched;
mod local;
mod serve;
mod wire;

pub use self::calls::{IntoPutSource, PutSource};
pub(super) use self::epoch::Epoch;
pub use self::fetched::{Fetched, Ticket};
pub(super) use self::local::{from_local, to_local};
