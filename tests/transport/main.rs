//! Conformance suite of the transports: the same tests with ranks as threads and, under the MPI
//! launcher, with ranks as processes.

use zippy_testing as support;

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

support::under_mpi!(3);

/// Errors of differing calls and of waits are the same for any number of ranks.
#[test]
fn under_mpi_with_other_counts() {
    support::launcher::rerun_all(&[2, 4], &["differing::", "waits::"]);
}
