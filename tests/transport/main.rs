//! Conformance suite of the transports, with ranks as threads and, under an MPI launcher, as
//! processes.

use zippy_testing as support;

mod collectives;
mod crashes;
mod differing;
mod ends;
mod failures;
#[cfg(feature = "mpi")]
mod foreign;
mod messages;
mod sparse;
mod splits;
mod start_errors;
mod waits;

support::under_mpi!(3);

#[test]
fn under_mpi_with_other_counts() {
    support::launcher::rerun_all(&[2, 4], &["differing::", "waits::"]);
}
