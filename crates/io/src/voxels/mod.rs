//! Format-independent description of volume files, and a reader of boxes.
//!
//! A format converts a header to a [`Description`]: a [`VoxelLayout`] and the [`Subvolume`]s that
//! cover it, each a box of the grid and the [`Segment`] of its bytes. This module checks the
//! lengths of files, decodes raw and encoded bytes, and finds the bytes of a box. Allocations are
//! bounded by the lengths of the files.

mod ascii;
mod boxes;
mod description;
mod gzip;
mod inflate;
mod layout;
mod lz4;
mod segment;
mod source;
mod stream;

pub(crate) use description::{Description, Subvolume};
pub(crate) use layout::{Claim, MOST_COMPONENTS, Stated, VoxelLayout, make_spacings_positive};
pub(crate) use segment::{CompressedBlocks, Encoding, Segment, first_bytes, tail};
pub(crate) use stream::{decoded, decoded_length, prefix};
