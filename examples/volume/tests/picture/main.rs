//! The program `volume` in this process: the command line, every kind of file, every cut, every mistake, movies.

#[path = "mod.rs"]
mod picture;

#[path = "../../../../tests/support/mod.rs"]
mod support;

under_mpi!(3; without command_line, isosurfaces, looks, paths, raw, values);
