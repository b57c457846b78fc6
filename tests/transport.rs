//! The conformance suite of the transports: the same tests on ranks as threads and, under the MPI launcher, as processes.

mod support;

#[path = "transport/messages.rs"]
mod messages;

under_mpi!();
