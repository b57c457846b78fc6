//! Images on the device: the same bits for every decomposition.

#[path = "mod.rs"]
mod ranks;

use zippy_testing as support;

support::under_mpi!(3; without features, shaders, surfaces, vtk);
