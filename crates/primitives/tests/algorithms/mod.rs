//! Algorithms over global arrays and over local arrays, on several numbers of ranks, as threads and
//! under MPI.

mod deliver;
mod host_threads;
mod moves;
mod native_kernels;
mod ordered;
mod scan;
mod sequences;
mod several_buffers;
mod sort;
mod trees;
mod vectors;
