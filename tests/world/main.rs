//! Programs over global arrays: every operation and every mistake, on several numbers of ranks, as threads and under MPI.

#[path = "mod.rs"]
mod world;

#[path = "../../crates/io/tests/common/counting.rs"]
#[allow(dead_code)]
mod counting;

#[path = "../support/log.rs"]
mod log;

#[path = "../support/mod.rs"]
mod support;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

under_mpi!(3; without elementwise, kept_memory, kernels, memory, names, readme);

/// Which messages ranks exchange depends on their number where operations are mixed; the rest does so in the transport only.
#[test]
fn under_mpi_with_other_counts() {
    support::launcher::rerun(&[2, 4], &["random_operations::"], &[]);
}
