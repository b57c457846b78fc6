//! Flows against plain vectors in `f64`, against what is known exactly, and against themselves over other cuts.

mod against_twin;
mod analytic;
mod cases;
mod change;
mod cuts;
mod derived;
mod described;
mod edited;
mod hundred_lines;
mod layers;
mod mirrors;
mod mistakes;
mod solids;
mod stability;
mod twin;

use crate::support;
