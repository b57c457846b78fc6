//! The conformance suite of the transports: the same tests on ranks as threads and, under the MPI launcher, as processes.

#[path = "../support/log.rs"]
mod log;
#[path = "../support/mod.rs"]
mod support;

mod collectives;
mod crashes;
mod differing;
mod ends;
mod failures;
#[cfg(feature = "mpi")]
mod foreign;
mod messages;
mod refused;
mod sparse;
mod splits;
mod waits;

under_mpi!(2, 3, 4);
