//! Flows against plain vectors in `f64`, against what is known exactly, and against themselves over other cuts.

#[path = "mod.rs"]
mod flow;

use zippy_testing as support;

support::under_mpi!(3; without against_twin, analytic, hundred_lines, mirrors);
