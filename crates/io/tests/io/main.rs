//! Files in every format, whole and damaged, compared with the numbers that were written to them.

// Modules that other crates share name the regions of `zippy`, which are those of `zippy_plan`.
extern crate zippy_plan as zippy;

#[path = "../common/mod.rs"]
mod common;

mod grids;
mod limits;
mod mesh;
mod mesh_cells;
mod mesh_errors;
mod mesh_golden;
mod mesh_hostile;
mod mesh_readers;
mod mesh_readers_ply;
mod meshes;
mod metaimage;
mod nifti;
mod npy;
mod nrrd;
mod nrrd_errors;
mod raw;
mod vti;
mod vti_errors;

use common::counting::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
