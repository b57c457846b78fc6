//! [`Surface`]: triangles on the devices of the ranks that draw them.

use std::collections::BTreeMap;
use std::rc::Rc;

use zippy::array::Growable;
use zippy::device::Lease;
use zippy::wgpu::BufferUsages;
use zippy::{Result, World};

use super::deal::{Bricks, Drawn};
use super::device_triangles::DeviceTriangles;
use super::intake::{Intake, Taken};
use super::triangles::{CORNER_WORDS, Corner, Triangles};
use crate::error::RenderError;
use crate::volume::bricks::CellBox;
use crate::volume::space::boxes_of_all;

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

/// What is done, to all ranks.
const TAKING: &str = "taking the triangles of a surface";

impl Surface {
    /// One without triangles. Local.
    pub(in crate::volume) fn new(world: &World, name: &str, bricks: &Rc<Bricks>) -> Result<Self> {
        let corners = world.growable_for(&format!("{name}.corners"), BufferUsages::VERTEX)?;
        let order = world.growable_for(&format!("{name}.order"), BufferUsages::INDEX)?;
        Ok(Self { corners, order, reached: Vec::new(), triangles: 0, bricks: bricks.clone() })
    }

    /// Takes other triangles. Collective.
    pub(in crate::volume) fn set(&mut self, world: &World, bricks: &Rc<Bricks>, of: &Triangles) -> Result<()> {
        self.clear(bricks)?;
        world.agree(TAKING, of.check().map_err(Into::into))?;
        let drawn = bricks.deal(world, of)?;
        let mut reached = BTreeMap::new();
        bricks.reached(world.rank(), &drawn, &mut reached);
        self.finish(world, reached, &drawn, of.triangles.len() as u64)
    }

    /// Takes other triangles, which stay on the device. Collective.
    pub(in crate::volume) fn set_on_device(
        &mut self,
        world: &World,
        bricks: &Rc<Bricks>,
        intake: &mut Intake,
        of: &DeviceTriangles,
    ) -> Result<()> {
        self.clear(bricks)?;
        let checked = of.check(world).and_then(|()| bricks.check());
        world.agree(TAKING, checked.map_err(Into::into))?;
        let taken = intake.take(world, bricks, of, (&mut self.corners, &mut self.order));
        let finished = world.agree(TAKING, taken).and_then(|Taken { mut reached, listed }| {
            let received = bricks.deal_to_others(world, &listed)?;
            for drawn in [&listed, &received] {
                bricks.reached(world.rank(), drawn, &mut reached);
            }
            self.finish(world, reached, &received, of.count())
        });
        if finished.is_err() {
            self.clear(bricks)?;
        }
        finished
    }

    /// Whatever fails from here on, what is left is a surface without triangles.
    fn clear(&mut self, bricks: &Rc<Bricks>) -> Result<()> {
        (self.triangles, self.bricks) = (0, bricks.clone());
        self.corners.set_len(0)?;
        self.order.set_len(0)
    }

    /// Adds what is drawn here beside what is there; `count` are this rank's triangles. Collective.
    fn finish(&mut self, world: &World, reached: BTreeMap<usize, CellBox>, drawn: &Drawn, count: u64) -> Result<()> {
        self.reached = boxes_of_all(world, reached, self.bricks.lattice.count())?;
        let mut count = [count];
        world.group().all_reduce(&mut count, |sum, more| *sum += more)?;
        world.agree(TAKING, self.append(world, drawn))?;
        self.triangles = count[0];
        Ok(())
    }

    fn append(&mut self, world: &World, Drawn { corners, order }: &Drawn) -> Result<()> {
        let most = world.buffer_bytes();
        let first = self.corners.len() / CORNER_WORDS as u64;
        let (vertices, order_len) = (first + corners.len() as u64, self.order.len() + order.len() as u64);
        let bytes = (vertices * CORNER_BYTES).max(order_len * 4);
        if bytes > most {
            let message = format!(
                "{} triangles with {vertices} vertices on rank {} need {bytes} bytes in one buffer, which has at most \
                 {most} here; use more ranks, or fewer triangles",
                order_len / 3,
                world.rank()
            );
            return Err(RenderError::Surface(message).into());
        }
        self.corners.append(bytemuck::cast_slice(corners))?;
        match first {
            0 => self.order.append(order),
            _ => self.order.append(&order.iter().map(|place| first as u32 + place).collect::<Vec<_>>()),
        }
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
