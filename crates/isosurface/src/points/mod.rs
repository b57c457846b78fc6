//! Points that begin at samples: numbers on a rank and in the whole mesh, and interpolation.

pub(crate) mod brick_points;
pub(crate) mod chunk_points;
pub(crate) mod inside;
pub(crate) mod interpolate;
pub(crate) mod list;
pub(crate) mod numbering;
pub(crate) mod weld;
