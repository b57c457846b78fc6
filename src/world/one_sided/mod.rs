//! One-sided operations: get, put and accumulate queued by any rank, run by the fence in (rank, sequence) order.

mod boxes;
mod epoch;
mod local;
mod serve;
mod wire;

pub(super) use self::epoch::Epoch;
pub use self::epoch::{Fetched, PutSource, Ticket};
