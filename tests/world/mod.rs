//! Programs with global arrays: all operations and all errors, on several numbers of ranks, as
//! threads and under MPI.

mod arrays;
mod bounded;
mod composite;
mod copy;
mod copy_local;
mod debug;
mod differing_operations;
mod elementwise;
mod exchange;
mod exchange_mixed;
mod fill_with;
mod ghosts;
mod ghosts_back;
mod history;
mod history_random;
mod in_place;
mod inspect;
mod kept_memory;
mod kernels;
mod memory;
mod mistakes;
mod names;
mod one_sided;
mod plans;
mod prefixes;
mod random_operations;
mod reach;
mod readme;
mod reduce;
mod safety;
mod silent_mistakes;
mod trace;
mod warm;
mod zip_chunks;
