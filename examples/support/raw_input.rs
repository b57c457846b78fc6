//! Command-line options for files of raw numbers.

use clap::Args;
use zippy_io::volume::{Endian, RawLayout, ScalarKind};

use super::sizes;

/// Layout of a file without a header.
#[derive(Args, Debug, Clone)]
#[group(skip)]
pub struct RawInput {
    /// Reads the file as raw numbers without a header, x fastest, with this number of voxels along
    /// each axis
    #[arg(long, value_name = "XxYxZ", value_parser = sizes::voxels, requires = "volume_file")]
    pub raw_shape: Option<[i64; 3]>,

    /// Type of the raw numbers: u8, i8, u16, i16, u32, i32, u64, i64, f16, f32, f64, or an alias
    /// (uint16, float, "unsigned short", MET_SHORT)
    #[arg(long, value_name = "TYPE", default_value = "u8", requires = "raw_shape")]
    pub raw_type: ScalarKind,

    /// Byte order of the raw numbers: little or big
    #[arg(long, value_name = "ORDER", default_value = "little", requires = "raw_shape")]
    pub raw_endian: Endian,

    /// Bytes before the first raw number
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = sizes::whole::<u64>, requires = "raw_shape")]
    pub raw_offset: u64,

    /// The raw file is compressed by gzip; --raw-offset counts uncompressed bytes
    #[arg(long, requires = "raw_shape")]
    pub raw_gzip: bool,

    /// Distance between voxels of the raw file along each axis
    #[arg(long, value_name = "X,Y,Z", default_value = "1,1,1", value_parser = sizes::spacing, requires = "raw_shape")]
    pub raw_spacing: [f64; 3],
}

impl RawInput {
    /// Layout of a file with `components` numbers in each voxel; `None` for a file with a header.
    pub fn layout(&self, components: usize) -> Option<RawLayout> {
        let shape = self.raw_shape?;
        Some(RawLayout {
            components: components as i64,
            endian: self.raw_endian,
            offset: self.raw_offset,
            spacing: self.raw_spacing.to_vec(),
            gzip: self.raw_gzip,
            ..RawLayout::new(shape, self.raw_type)
        })
    }
}
