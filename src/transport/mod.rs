//! Bytes between ranks.
//!
//! [`Transport`] is the small contract that threads and MPI fulfil; [`Group`] is what the rest of the program
//! uses: ranks with collectives, written once over the trait; [`launch`] starts the ranks. One conformance
//! suite (`tests/transport`) runs on both.

mod board;
mod bundle;
mod calls;
mod check;
mod collectives;
mod config;
mod contexts;
mod environment;
mod exit;
mod failure;
mod finished;
mod grace;
mod group;
mod inquiry;
mod interface;
mod launch;
mod left;
mod members;
#[cfg(feature = "mpi")]
mod mpi;
mod operation;
mod patience;
mod payload;
mod reductions;
mod sparse;
mod split;
mod sub_groups;
mod tag;
mod threads;
mod wait;

#[cfg(feature = "mpi")]
pub use self::mpi::run_on;
pub use config::{Config, Ranks};
pub use environment::{Launcher, detect_launcher};
pub use group::Group;
pub use interface::{Received, Transport, TransportKind};
pub use launch::launch;
pub use operation::Entered;
pub use payload::{BytePool, Bytes, Payload, copied, shared, values};
pub(crate) use tag::Beside;
pub use tag::Tag;
