//! Computation of displayed cells and pictures: requests for the visible cells, their values and
//! their colours. This module is independent of windows, connections and files.
//!
//! A *plane* has two axes, across and up, and consists of the cells of a [`Slice`] or of a
//! [`Mosaic`] of slices. Cell (i, j) covers [i, i + 1) × [j, j + 1) in plane coordinates. The
//! second screen coordinate points down; j points up.

mod colours;
mod difference;
mod location;
mod mosaic;
mod norm;
mod parsing;
mod picture;
mod quantity;
mod ramp;
mod range;
mod slice;
mod subvolume;
mod values;
mod viewport;

pub use colours::{ColourMap, MapKind, SPECIAL_COLOURS, SpecialColours};
pub use difference::{Differences, Measure, TypedView, differing_cells};
pub use location::{CellLocation, box_in_plane, locate};
pub use mosaic::Mosaic;
pub use norm::{Norm, Scale, Share};
pub use parsing::{axis, axis_name, indices};
pub use picture::{Colouring, Rgba, paint};
pub use quantity::{Quantity, VectorPart, ViewedNumbers};
pub use ramp::{Opaque, Ramp};
pub use range::Range;
pub use slice::Slice;
pub use subvolume::{Subvolume, Voxels};
pub use values::{ExactNumber, Integers, Member, Values, cell};
pub use viewport::Viewport;
