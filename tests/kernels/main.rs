//! Kernels over local sections: every helper and binding against its definition, errors word for word, shaders and their
//! twins.

mod arguments;
mod domains;
mod errors_calls;
mod errors_wgsl;
mod helpers;
mod packed;
mod report;
#[path = "../support/mod.rs"]
mod support;
mod wgsl;
mod windows;

under_mpi!();
