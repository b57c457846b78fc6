//! Surfaces of fields whose topology, area or mesh is known independently, over many cuts.

#[path = "mod.rs"]
mod surfaces;

use zippy_testing as support;

support::under_mpi!(3; without by_kernels, on_device, reference, special);
