//! Points that begin at samples: their numbers on a rank and in the whole mesh, and interpolation
//! of fields.

pub mod brick_points;
pub mod chunk_points;
pub mod inside;
pub mod interpolate;
pub mod list;
pub mod numbering;
pub mod weld;
