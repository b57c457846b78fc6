//! Programs with global arrays: all operations and all errors, on several numbers of ranks, as
//! threads and under MPI.

#[path = "mod.rs"]
mod world;

#[path = "../../crates/io/tests/common/counting.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod counting;

use zippy_testing as support;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

support::under_mpi!(3; without elementwise, kept_memory, kernels, memory, names, readme);

/// Mixed operations run with other numbers of ranks, on which their messages depend; in other tests
/// only the transport matters.
#[test]
fn under_mpi_with_other_counts() {
    support::launcher::rerun(&[2, 4], &["random_operations::"], &[]);
}
