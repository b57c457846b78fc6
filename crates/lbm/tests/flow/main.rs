//! Flows against plain vectors in `f64`, against what is known exactly, and against themselves over other cuts.

#[path = "../../../../tests/support/mod.rs"]
mod support;

mod against_twin;
mod analytic;
mod cases;
mod change;
mod cuts;
mod derived;
mod described;
mod hundred_lines;
mod mistakes;
mod solids;
mod twin;

under_mpi!(3; without against_twin, analytic, hundred_lines);
