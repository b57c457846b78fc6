//! Algorithms over global arrays and over local arrays, on several numbers of ranks, as threads and
//! under MPI.

#[path = "mod.rs"]
mod algorithms;

#[path = "../../../io/tests/common/counting.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod counting;

use zippy_testing as support;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

support::under_mpi!(3; without host_threads, moves, ordered, scan, several_buffers, sort);
