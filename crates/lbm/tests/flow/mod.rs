//! Flows compared with a reference on vectors in `f64`, with exact solutions, and with themselves
//! on other cuts.

mod against_reference;
mod analytic;
mod case_file;
mod case_file_differences;
mod cases;
mod change_problem;
mod cluster_example;
mod cuts;
mod errors;
mod quantities;
mod reference_flow;
mod side_conditions;
mod solid_layers;
mod solids;
mod stability;

use crate::support;
