//! NRRD, "nearly raw raster data": a text header and the voxels behind it or in files beside it.
//!
//! Read strictly: a header that is wrong, contradicts itself or does not fit the data is an error that names file and
//! byte. Format: <https://teem.sourceforge.net/nrrd/format.html>.

mod data_files;
mod fields;
mod header;
mod notes;
mod open;

pub use open::{open, open_with};
