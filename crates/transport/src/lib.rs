//! Transport of bytes between ranks.
//!
//! [`launch`] starts the ranks of a run with the settings of a [`Config`]. Each rank has a
//! [`Group`] for messages and collectives, the same for threads and MPI. `World::group` returns the
//! group of a world, for data other than cells.

// Start of a run, and its settings.
mod config;
mod environment;
mod launch;

// Transports of messages.
mod interface;
#[cfg(feature = "mpi")]
mod mpi;
mod payload;
mod run_status;
mod tag;
mod thread_transport;

// Groups of ranks: members, waits, collectives.
mod collectives;
mod contexts;
mod contribution;
mod group;
mod members;
mod messages;
mod operation;
mod reductions;
mod sparse_exchange;
mod split;
mod wait;
mod wait_limits;

// Detection of ranks that call different operations.
mod calls;
mod check;
mod sub_group_history;
mod sub_groups;
mod wait_report;

// End of a run: success, error, panic, or exit of the process.
mod exit;
mod grace_period;
mod panic_watch;
mod run_rank;
mod timeline;
mod variables;

#[cfg(feature = "mpi")]
pub use self::mpi::run_on;
pub use config::Config;
pub use environment::{Launcher, detect_launcher};
pub use group::Group;
pub use interface::TransportKind;
pub(crate) use interface::{Received, Transport};
pub use launch::launch;
pub use operation::Entered;
#[doc(hidden)]
pub use panic_watch::report_uncaught;
pub use payload::{Payload, copied, values};
#[doc(hidden)]
pub use payload::{decoded, encoded};
pub(crate) use tag::ReservedTag;
pub use tag::Tag;
pub use variables::{VARIABLES, Variable};
