//! Pictures on the device, for every decomposition the same bits.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../../tests/support/mod.rs"]
mod support;

mod bricks;
mod coded;
mod features;
mod layers;
mod render;
mod shaders;
mod space;
mod surfaces;
mod vtk;

under_mpi!(3; without features, shaders, surfaces, vtk);
