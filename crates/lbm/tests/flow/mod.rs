//! Flows against plain vectors in `f64`, against what is known exactly, and against themselves over other cuts.

mod against_twin;
mod analytic;
mod cases;
mod change;
mod cuts;
mod derived;
mod described;
mod hundred_lines;
mod mirrors;
mod mistakes;
mod solids;
mod twin;

use crate::support;
