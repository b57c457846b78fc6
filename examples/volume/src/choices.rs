//! Options that are one of a few words, and the end of the help text.

use clap::ValueEnum;
use zippy_render::volume::PixelFormat;

/// How depth projects onto the picture.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// What is far looks smaller
    Perspective,
    /// Lengths can be compared everywhere
    Parallel,
}

/// How values between voxels are found.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// Between the eight voxels around
    Linear,
    /// That of the nearest voxel
    Nearest,
}

/// Bits of a component.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    #[value(name = "8", help = "256 levels")]
    Eight,
    #[value(name = "16", help = "65,536 levels")]
    Sixteen,
}

impl From<Depth> for zippy_io::png::Depth {
    fn from(depth: Depth) -> Self {
        match depth {
            Depth::Eight => Self::Eight,
            Depth::Sixteen => Self::Sixteen,
        }
    }
}

/// A pixel while pictures are blended.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pixel {
    /// Four floats
    F32,
    /// Four bytes: a quarter of what travels, half a level of error at each blend
    Rgba8,
}

impl From<Pixel> for PixelFormat {
    fn from(pixel: Pixel) -> Self {
        match pixel {
            Pixel::F32 => Self::F32,
            Pixel::Rgba8 => Self::Rgba8,
        }
    }
}

/// What `--help` ends with.
pub const AFTER: &str = "\
Examples:
  volume --ranks 4
      the phantom on four ranks, into volume.png
  volume --ranks 5 --input bonsai.nrrd --preset ct-soft --shade --size 1024x1024 --output bonsai.png --compare-single
      a scan in the colours of soft tissue, lit; the same picture on one rank must be the same bits
  volume segmentation.nii.gz --preset labels --output labels.png
      a colour for each label
  volume --ranks 4 --input engine.nrrd --view
      a window to look at a scan
  volume --ranks 3 --input tooth.nrrd --movie orbit --frames 36 --output orbit.apng
      once around a tooth, as an animation that browsers show
  volume --ranks 4 --input head.nii.gz --preset mr --crop :,:,40: --clip 1,-1,0,0 --alpha --depth 16 --output head.png
      a corner cut off, without a background, for a figure
  volume --ranks 3 --input engine.nrrd --split 10+246x2x1
      four chunks on three ranks: x cut into 10 and 246 voxels, y into halves, z not at all
  volume --ranks 6 --input engine.nrrd --cut bars --idle-ranks 1 --fast --algorithm radix:4,2
      interlocking parts on five of six ranks, blended by radix-k
  volume --input scan.raw --raw-shape 512x512x300 --raw-type i16 --raw-spacing 0.7,0.7,1.5 --output scan.npy
      numbers without a header; the picture as floats

Environment: ZIPPY_RANKS is the number of ranks without --ranks, ZIPPY_ADAPTER chooses the GPU, ZIPPY_MEMORY_LIMIT is
how many bytes the arrays of a rank may take, ZIPPY_TIMEOUT_SECS after how long a wait fails (300).
Exit code: 0, or 1 if something failed or --compare-single missed its bounds, or 2 for a wrong command line. A
program that is told to end (Ctrl-C, kill) ends by that signal; a movie keeps the frames that it has.";
