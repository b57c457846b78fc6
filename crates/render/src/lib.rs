//! Sort-last volume rendering of global arrays: each rank casts rays through its own chunks, and
//! the partial images are composited (section 5.1 of the Zippy paper).
//!
//! ```
//! # use zippy::{Layout, Split, World};
//! use zippy_render::volume::{
//!     Camera, Look, Phantom, RendererOptions, TransferFunction, VolumeRenderer,
//! };
//! # fn program(world: &World) -> zippy::Result<()> {
//! let phantom = Phantom { shape: [32, 32, 32] };
//! let volume = world.array::<u16, 3>("head", &Layout::new(phantom.shape).split_all(Split::Auto))?;
//! volume.fill_with(|voxel| phantom.value(voxel))?;
//! let renderer = VolumeRenderer::new(world, &volume, [1.0; 3], RendererOptions::default())?;
//! let camera = Camera::overview(phantom.shape, [1.0; 3]);
//! let transfer = TransferFunction::ramp(0.0, f64::from(Phantom::MAX));
//! let frame = renderer.render(&Look { size: (64, 64), ..Look::new(camera, transfer) })?;
//! assert_eq!(frame.image.is_some(), world.rank() == 0); // rank 0 gets the picture
//! # Ok(()) }
//! # zippy::run_with(zippy::Config::threads(3), program).unwrap();
//! ```
//!
//! # Volumes of files
//!
//! * A volume has the origin, spacing and directions of its file: clip planes, focal points, scenes
//!   and meshes are in the space of the file. A crop box counts along the volume's own axes, index
//!   times spacing, from 0 at the first voxel.
//! * Slope and intercept apply to values of transfer functions and presets. Numbers that 32-bit
//!   floats cannot distinguish are stored minus an offset, or scaled ([`volume::Rescale`]).
//! * NaN and minus infinity are drawn as the smallest value, infinity as the largest.
//! * A rank reads its own rows of uncompressed data, its blocks of zlib or LZ4, and one compressed
//!   stream up to the end of its part.
//! * Images in `.npy` have shape (height, width, 4): red, green and blue multiplied by alpha, and
//!   alpha.
#![forbid(unsafe_code)]

pub mod compositing;
mod error;
pub mod scene;
#[cfg(test)]
mod shader_tests;
pub mod transfer;
pub mod volume;

pub use error::RenderError;
