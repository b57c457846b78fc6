//! Images on the device: the same bits for every decomposition.

#[path = "mod.rs"]
mod ranks;

#[path = "../../../../tests/support/mod.rs"]
mod support;

under_mpi!(3; without features, shaders, surfaces, vtk);
