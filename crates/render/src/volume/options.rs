//! [`RendererOptions`]: settings of a renderer, and checks that need no renderer.

use zippy::World;

use super::bricks::Lattice;
use super::look::{Mode, PixelFormat};
use crate::compositing::{Algorithm, Encoding};
use crate::error::RenderError;

/// Settings of a renderer that are independent of the look.
#[derive(Debug, Clone, PartialEq)]
pub struct RendererOptions {
    /// Guarantee about images of different decompositions.
    pub mode: Mode,
    /// Number of cells along each side of a brick, a multiple of 8. Default for `None`: a quarter
    /// of the longest axis, within 32 to 128; in fast mode a sixteenth, within 8 to 128.
    pub brick: Option<i64>,
    /// Number of array cells per voxel, interleaved on axis 0:
    ///
    /// - 1: a value;
    /// - 2: a value for the colour, a value for the opacity;
    /// - 4: red, green and blue, from 0 to the type's greatest number (1 for floats), and a value
    ///   for the opacity.
    pub components: usize,
    /// Prefix of array names, as in `name.picture`; `None` uses the volume's name. Several
    /// renderers of one volume need different names.
    pub name: Option<String>,
    /// Compositing algorithm. Only direct send needs no more memory than the layers cover.
    pub algorithm: Algorithm,
    /// Encoding of pixels in messages.
    pub encoding: Encoding,
    /// Pixel format during compositing.
    pub pixel: PixelFormat,
}

impl Default for RendererOptions {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            brick: None,
            components: 1,
            name: None,
            algorithm: Algorithm::DirectSend,
            encoding: Encoding::default(),
            pixel: PixelFormat::default(),
        }
    }
}

impl RendererOptions {
    /// Checks that a volume of `voxels` can be rendered with these options. Local.
    ///
    /// # Errors
    /// An unsupported number of components, or an invalid size of bricks.
    pub fn check(&self, voxels: [i64; 3]) -> Result<(), RenderError> {
        self.lattice(voxels).map(drop)
    }

    pub(super) fn lattice(&self, voxels: [i64; 3]) -> Result<Lattice, RenderError> {
        if ![1, 2, 4].contains(&self.components) {
            let message = format!("voxels of {} components; 1, 2 and 4 are possible", self.components);
            return Err(RenderError::Volume(message));
        }
        Lattice::new(voxels, self.brick, self.mode)
    }

    /// Checks that images of `size` pixels can be rendered: one buffer must hold an image on each
    /// device of the world. Local; equal on all ranks.
    ///
    /// # Errors
    /// Too many pixels; the message names the limit.
    pub fn check_size(&self, world: &World, size: (u32, u32)) -> Result<(), RenderError> {
        let pixel = match self.pixel {
            PixelFormat::F32 => 16,
            PixelFormat::Rgba8 => 4,
        };
        self.check_bytes(world, size, pixel)
    }

    /// Checks the size for a number of bytes per pixel.
    pub(super) fn check_bytes(
        &self,
        world: &World,
        (width, height): (u32, u32),
        pixel: u64,
    ) -> Result<(), RenderError> {
        let most = world.limits().buffer_bytes;
        let bytes = u64::from(width) * u64::from(height) * pixel;
        if bytes <= most {
            return Ok(());
        }
        let scale = (most as f64 / bytes as f64).sqrt();
        let [wide, high] = [width, height].map(|side| ((f64::from(side) * scale) as u32).max(1));
        Err(RenderError::Setting(format!(
            "a picture of {width}x{height} pixels of {pixel} bytes; {wide}x{high} would do, as a buffer here has at most {most} \
             bytes"
        )))
    }
}
