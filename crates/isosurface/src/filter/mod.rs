//! Filters of fields: cells whose values lie in a range, the part on one side of an isovalue, the section of a plane.

pub mod clip;
pub mod cut;
mod solid;
pub mod tetrahedra;
pub mod threshold;
