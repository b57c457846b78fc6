//! Pictures on the device, for every decomposition the same bits.

#[path = "mod.rs"]
mod ranks;

#[path = "../../../../tests/support/mod.rs"]
mod support;

under_mpi!(3; without features, shaders, surfaces, vtk);
