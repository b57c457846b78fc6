//! [`Surface`]: triangles on the devices of the ranks that draw them.

use std::rc::Rc;

use zippy::array::Growable;
use zippy::device::Lease;
use zippy::wgpu::BufferUsages;
use zippy::{Result, World};

use super::deal::{Bricks, Drawn};
use super::triangles::{Corner, Triangles};
use crate::error::RenderError;
use crate::volume::bricks::CellBox;

/// A surface in a volume, spread over the ranks: from [`VolumeRenderer::surface`](crate::volume::VolumeRenderer::surface).
/// Drawn from arrays on the device, which grow and never shrink.
#[derive(Debug)]
pub struct Surface {
    corners: Growable<f32>,
    order: Growable<u32>,
    /// For each brick of all ranks the cells that it may reach into.
    reached: Vec<Option<CellBox>>,
    triangles: u64,
    bricks: Rc<Bricks>,
}

impl Surface {
    /// One without triangles. Local.
    pub(in crate::volume) fn new(world: &World, name: &str, bricks: &Rc<Bricks>) -> Result<Self> {
        let corners = world.growable_for(&format!("{name}.corners"), BufferUsages::VERTEX)?;
        let order = world.growable_for(&format!("{name}.order"), BufferUsages::INDEX)?;
        Ok(Self { corners, order, reached: Vec::new(), triangles: 0, bricks: bricks.clone() })
    }

    /// Takes other triangles. Collective.
    pub(in crate::volume) fn set(&mut self, world: &World, bricks: &Rc<Bricks>, of: &Triangles) -> Result<()> {
        world.agree("taking the triangles of a surface", of.check().map_err(Into::into))?;
        // Whatever fails from here on, what is left is a surface without triangles.
        self.order.set_len(0)?;
        (self.triangles, self.bricks) = (0, bricks.clone());
        let drawn = bricks.deal(world, of)?;
        self.reached = bricks.reached(world, &drawn)?;
        let mut count = [of.triangles.len() as u64];
        world.group().all_reduce(&mut count, |sum, more| *sum += more)?;
        world.agree("taking the triangles of a surface", self.write(world, &drawn))?;
        self.triangles = count[0];
        Ok(())
    }

    fn write(&mut self, world: &World, Drawn { corners, order }: &Drawn) -> Result<()> {
        let most = world.buffer_bytes();
        let (vertices, triangles) = (corners.len(), order.len() / 3);
        let bytes = (vertices as u64 * CORNER_BYTES).max(order.len() as u64 * 4);
        if bytes > most {
            let message = format!(
                "{triangles} triangles with {vertices} vertices on rank {} need {bytes} bytes in one buffer, which has at most \
                 {most} here; use more ranks, or fewer triangles",
                world.rank()
            );
            return Err(RenderError::Surface(message).into());
        }
        self.corners.set_len(0)?;
        self.corners.append(bytemuck::cast_slice(corners))?;
        self.order.append(order)
    }

    /// # Errors
    /// It was made for other bricks.
    pub(in crate::volume) fn check(&self, bricks: &Rc<Bricks>) -> Result<(), RenderError> {
        if Rc::ptr_eq(&self.bricks, bricks) || self.bricks == *bricks {
            return Ok(());
        }
        let message = format!(
            "{:?} is a surface in a volume of other voxels, bricks or owners; give its triangles to this renderer",
            self.order.name().trim_end_matches(".order")
        );
        Err(RenderError::Surface(message))
    }

    /// Triangles of all ranks.
    pub fn triangles(&self) -> u64 {
        self.triangles
    }

    /// The cells of a brick that it may reach into.
    pub(in crate::volume) fn reached(&self, brick: usize) -> Option<CellBox> {
        self.reached.get(brick).copied().flatten()
    }

    /// Vertices and their order on this rank, and how many are to be drawn; `None` where there is nothing to draw.
    pub(super) fn buffers(&self) -> Result<Option<(Lease, Lease, u32)>> {
        let count = self.order.len() as u32;
        let both = (self.corners.lease()?, self.order.lease()?);
        Ok(match both {
            (Some(corners), Some(order)) if count > 0 => Some((corners, order, count)),
            _ => None,
        })
    }
}

/// Bytes of a vertex.
pub(super) const CORNER_BYTES: u64 = size_of::<Corner>() as u64;
