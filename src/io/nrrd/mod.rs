//! NRRD, "nearly raw raster data": a text header and the voxels behind it or in a file beside it.
//!
//! Read strictly: a header that is wrong, contradicts itself or does not fit the data is an error that names file and
//! byte. Nothing is allocated from a number in the header before the file has been shown to hold that much.
//! Format: <https://teem.sourceforge.net/nrrd/format.html>.

mod data;
mod fields;
mod header;
mod stream;

pub use data::NrrdFile;
pub use header::{Encoding, Header};
