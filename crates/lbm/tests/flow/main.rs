//! Tests of flows and solids.

#[path = "mod.rs"]
mod flow;

use zippy_testing as support;

support::under_mpi!(3; without against_reference, analytic, cluster_example, side_conditions);
