//! Algorithms over global arrays and over local arrays, on several numbers of ranks, as threads and
//! under MPI.

#[path = "mod.rs"]
mod algorithms;

#[path = "../../crates/io/tests/common/counting.rs"]
#[allow(dead_code)]
mod counting;

#[path = "../support/mod.rs"]
mod support;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

under_mpi!(3; without host_threads, moves, ordered, scan, several_buffers, sort);
