//! Options with a fixed list of values, and the text after the options in `--help`.

use clap::ValueEnum;
use zippy_render::volume::PixelFormat;

/// Projection of the camera.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// Distant parts are smaller
    Perspective,
    /// Equal lengths have equal sizes at every distance
    Parallel,
}

/// Interpolation of values between voxels.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// Trilinear, from the eight voxels around the sample
    Linear,
    /// The value of the nearest voxel
    Nearest,
}

/// Bit depth of each component of a PNG.
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

/// Pixel format during compositing.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pixel {
    /// Four 32-bit floats
    F32,
    /// Four bytes: a quarter of the traffic, a rounding error of half a level at each blend
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

/// Text after the options in `--help`.
pub const AFTER_HELP: &str = "\
Examples:
  volume --ranks 4
      renders the phantom on four ranks into volume.png
  volume --ranks 5 --input bonsai.nrrd --preset ct-soft --shade --size 1024x1024 --output bonsai.png --compare-single
      renders a scan with the soft-tissue preset and light, and checks that one rank renders the same bits
  volume segmentation.nii.gz --preset labels --output labels.png
      renders each label in its own colour
  volume --ranks 4 --input engine.nrrd --view
      shows a scan in a window
  volume --ranks 3 --input tooth.nrrd --movie orbit --frames 36 --output orbit.apng
      moves the camera once around a tooth, into an animation that browsers play
  volume --ranks 4 --input head.nii.gz --preset mr --crop :,:,40: --clip 1,-1,0,0 --alpha --depth 16 --output head.png
      renders a scan with a corner cut off and a transparent background, for a figure
  volume --ranks 3 --input engine.nrrd --split 10+246x2x1
      cuts x into 10 and 246 voxels and y into halves: four chunks on three ranks
  volume --ranks 6 --input engine.nrrd --cut bars --idle-ranks 1 --fast --algorithm radix:4,2
      gives interlocking bars to five of six ranks and composites with radix-k
  volume --input scan.raw --raw-shape 512x512x300 --raw-type i16 --raw-spacing 0.7,0.7,1.5 --output scan.npy
      reads numbers without a header, writes the picture as floats

Environment variables:
  ZIPPY_RANKS         number of ranks if --ranks is not given
  ZIPPY_ADAPTER       GPU to use
  ZIPPY_MEMORY_LIMIT  limit in bytes for the arrays of a rank
  ZIPPY_TIMEOUT_SECS  seconds until a wait for another rank fails (300)

Exit code: 0 on success; 1 after a failure or a --compare-single difference above its bound; 2 for a wrong command
line. Ctrl-C and kill end the program by that signal, and a movie keeps its finished frames.";
