//! Pictures on the device, for every decomposition the same bits.

#[path = "../common/mod.rs"]
mod common;

mod bricks;
mod coded;
mod features;
mod grids;
mod layers;
mod render;
mod shaders;
mod space;
mod surfaces;
mod vtk;
