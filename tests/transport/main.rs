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

under_mpi!(3);

/// What differs and who waits is told alike by any number of ranks.
#[test]
fn under_mpi_with_other_counts() {
    support::launcher::rerun_all(&[2, 4], &["differing::", "waits::"]);
}
