//! Images on the device: the same bits for every decomposition.

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
