//! Tests of the library of `volume` in this process: command line, file formats, cuts, mistakes,
//! movies.

#[path = "mod.rs"]
mod picture;

use zippy_testing as support;

support::under_mpi!(3; without command_line, isosurfaces, looks, paths, raw, values);
