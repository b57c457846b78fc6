//! Data-parallel primitives, on one rank and over ranks, as threads and under MPI.

mod scan;
mod sequences;

#[path = "../support/mod.rs"]
mod support;

under_mpi!(3);
