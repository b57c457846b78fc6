//! One description of every volume file, whatever its format, and one reader of boxes.
//!
//! A format turns a header into a [`Description`]: a [`VoxelLayout`] of voxels and the [`Subvolume`]s that cover it, each a box of
//! the grid and the [`Segment`] of its bytes. Everything behind the header is done here and knows no format: what the
//! length of a file must be, raw or encoded bytes, which of them a box of the volume needs, and the errors on the way.
//! Nothing is allocated from a number in a header before the file has been shown to hold that much.

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

pub use description::{Description, Subvolume};
pub use layout::{Claim, MOST_COMPONENTS, Stated, VoxelLayout, turned};
pub use segment::{Blocks, Encoding, Segment, first_bytes, open_regular, tail};
pub use stream::{decoded, decoded_length, prefix};
