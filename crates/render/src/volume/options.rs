//! [`RendererOptions`]: how volumes are drawn, and what can be refused before there is one.

use zippy::world::World;

use super::bricks::Lattice;
use super::look::{Mode, PixelFormat};
use crate::compositing::{Algorithm, Encoding};
use crate::error::RenderError;

/// How a volume is rendered, whatever the look.
#[derive(Debug, Clone, PartialEq)]
pub struct RendererOptions {
    /// What pictures of different decompositions have in common.
    pub mode: Mode,
    /// Cells along each side of a brick, a multiple of 8; `None`: a quarter of the longest axis, within 32 to 128, in
    /// fast mode a sixteenth, within 8 to 128.
    pub brick: Option<i64>,
    /// Array cells of each voxel, in a row on axis 0. 1: a value. 2: one for the colour, one for the opacity. 4: red,
    /// green and blue from 0 to the type's largest number (1 for floats), and one for the opacity.
    pub components: usize,
    /// What its arrays are called: this and a suffix, as `name.picture`; `None`: as the volume. Several renderers of
    /// one volume need names of their own.
    pub name: Option<String>,
    /// How layers become one picture. Direct send alone needs no more memory than the layers cover.
    pub algorithm: Algorithm,
    /// How their pixels travel.
    pub encoding: Encoding,
    /// What a pixel is while pictures are blended.
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
    /// Whether volumes of so many voxels can be drawn like this, before there is one. Local.
    ///
    /// # Errors
    /// Voxels of too many components, or bricks of no possible size.
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

    /// Whether pictures of so many pixels can be drawn like this: on each device that takes part one buffer has to hold
    /// a picture. Local; the same on every rank.
    ///
    /// # Errors
    /// Too many pixels; says how many would do.
    pub fn check_size(&self, world: &World, size: (u32, u32)) -> Result<(), RenderError> {
        let pixel = match self.pixel {
            PixelFormat::F32 => 16,
            PixelFormat::Rgba8 => 4,
        };
        self.check_bytes(world, size, pixel)
    }

    /// The same for so many bytes a pixel.
    pub(super) fn check_bytes(
        &self,
        world: &World,
        (width, height): (u32, u32),
        pixel: u64,
    ) -> Result<(), RenderError> {
        let most = world.buffer_bytes();
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
