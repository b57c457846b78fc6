//! Tests of the library of `volume` in this process: command line, file formats, cuts, mistakes,
//! movies.

#[path = "mod.rs"]
mod picture;

#[path = "../../../../tests/support/mod.rs"]
mod support;

under_mpi!(3; without command_line, isosurfaces, looks, paths, raw, values);
