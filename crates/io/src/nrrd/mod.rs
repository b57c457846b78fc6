//! NRRD, "nearly raw raster data": a text header, and the voxels after it or in other files.
//!
//! Parsing is strict: a header that is malformed, contradicts itself or does not fit the data is an
//! error that names the file and the byte. Format: <https://teem.sourceforge.net/nrrd/format.html>.

mod data_files;
mod fields;
mod header;
mod notes;
mod open;

pub(crate) use open::{open, open_with};
