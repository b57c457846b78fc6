//! Bytes between ranks.
//!
//! [`launch`] starts the ranks of a run, as a [`Config`] says. Each has a [`Group`]: messages and collectives, the same on
//! threads and under MPI. A [`World`](crate::World) stands on one, and [`World::group`](crate::World::group) gives it to
//! programs that send something else than cells.

// How a run is started, and on what.
mod config;
mod environment;
mod launch;

// What carries messages, and what a message is.
mod board;
mod interface;
#[cfg(feature = "mpi")]
mod mpi;
mod payload;
mod tag;
mod threads;

// Groups of ranks: who is in them, waits, collectives.
mod bundle;
mod collectives;
mod contexts;
mod group;
mod members;
mod messages;
mod operation;
mod patience;
mod reductions;
mod sparse;
mod split;
mod wait;

// Ranks that call different operations.
mod calls;
mod check;
mod inquiry;
mod left;
mod sub_groups;

// How a run ends: well, by an error, by a panic, by an exit of the process.
mod exit;
mod failure;
mod finished;
mod grace;
mod traced;
mod variables;

#[cfg(feature = "mpi")]
pub use self::mpi::run_on;
pub use config::Config;
pub use environment::{Launcher, detect_launcher};
pub(crate) use exit::at_exit_call;
pub(crate) use failure::{catch_expected, tell_uncaught};
pub use group::Group;
pub use interface::TransportKind;
pub(crate) use interface::{Received, Transport};
pub use launch::launch;
pub use operation::Entered;
pub use payload::{Payload, copied, values};
pub(crate) use payload::{decoded, encoded};
pub(crate) use tag::Beside;
pub use tag::Tag;
pub use variables::{VARIABLES, Variable};
