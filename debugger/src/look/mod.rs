//! What is shown, as plain values and pictures: which cells are wanted for a part of the screen, their numbers, their
//! colours. Nothing here knows of windows, connections or files.
//!
//! A *plane* has two axes, across and up, and is made of the cells of a [`Slice`] or of a [`Mosaic`] of slices. Cell (i, j) of
//! it covers [i, i + 1) × [j, j + 1) of its coordinates. On a screen, whose second coordinate goes down, j goes up.

mod colours;
mod difference;
mod mosaic;
mod norm;
mod parsing;
mod picture;
mod place;
mod quantity;
mod ramp;
mod range;
mod slice;
mod subvolume;
mod values;
mod viewport;

pub use colours::{APART, Apart, ColourMap, MapKind};
pub use difference::{Differences, Measure};
pub use mosaic::Mosaic;
pub use norm::{Norm, Scale, Share};
pub use parsing::{axis, axis_name, indices};
pub use picture::{Colouring, Rgba, paint};
pub use place::{Place, box_in_plane, place};
pub use quantity::{Part, Quantity};
pub use ramp::{Opaque, Ramp};
pub use range::Range;
pub use slice::Slice;
pub use subvolume::{Subvolume, Voxels};
pub use values::{Exact, Integers, Member, Values, cell};
pub use viewport::Viewport;
