//! The conformance suite of the transports: the same tests on ranks as threads and, under the MPI launcher, as processes.

mod support;

#[path = "transport/collectives.rs"]
mod collectives;
#[path = "transport/crashes.rs"]
mod crashes;
#[path = "transport/differing.rs"]
mod differing;
#[path = "transport/ends.rs"]
mod ends;
#[path = "transport/failures.rs"]
mod failures;
#[cfg(feature = "mpi")]
#[path = "transport/foreign.rs"]
mod foreign;
#[path = "transport/messages.rs"]
mod messages;
#[path = "transport/refused.rs"]
mod refused;
#[path = "transport/sparse.rs"]
mod sparse;
#[path = "transport/splits.rs"]
mod splits;
#[path = "transport/waits.rs"]
mod waits;

under_mpi!();
