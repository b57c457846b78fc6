//! [`Surface`]: triangles on the devices of the ranks that draw them.

use zippy::array::Growable;
use zippy::device::Lease;
use zippy::wgpu::BufferUsages;
use zippy::{Result, World};

use super::deal::{Bricks, Drawn};
use super::triangles::{Corner, Triangles};
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
}

impl Surface {
    /// One without triangles. Local.
    pub(in crate::volume) fn new(world: &World, name: &str) -> Result<Self> {
        let corners = world.growable_for(&format!("{name}.corners"), BufferUsages::VERTEX)?;
        let order = world.growable_for(&format!("{name}.order"), BufferUsages::INDEX)?;
        Ok(Self { corners, order, reached: Vec::new(), triangles: 0 })
    }

    /// Takes other triangles. Collective.
    pub(in crate::volume) fn set(&mut self, world: &World, bricks: &Bricks, of: &Triangles) -> Result<()> {
        world.agree("taking the triangles of a surface", of.check().map_err(Into::into))?;
        let drawn = bricks.deal(world, of)?;
        self.reached = bricks.reached(world, &drawn)?;
        let mut count = [of.triangles.len() as u64];
        world.group().all_reduce(&mut count, |sum, more| *sum += more)?;
        self.triangles = count[0];
        world.agree("taking the triangles of a surface", self.write(&drawn))
    }

    fn write(&mut self, Drawn { corners, order }: &Drawn) -> Result<()> {
        let numbers: &[f32] = bytemuck::cast_slice(corners);
        self.corners.set_len(0)?;
        self.corners.append(numbers)?;
        self.order.set_len(0)?;
        self.order.append(order)
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
