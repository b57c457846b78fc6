//! Filters of fields: threshold (cells in a range of values), clip (one side of an isovalue), cut
//! (planar section).

pub(crate) mod clip;
pub(crate) mod cut;
mod solid;
pub(crate) mod tetrahedra;
pub(crate) mod threshold;
