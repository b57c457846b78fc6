//! Filters of fields: threshold (cells with values in a range), clip (one side of an isovalue), cut
//! (planar section).

pub mod clip;
pub mod cut;
mod solid;
pub mod tetrahedra;
pub mod threshold;
