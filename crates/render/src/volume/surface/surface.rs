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
use super::triangles::{CORNER_WORDS, Corner, Triangles, check_room};
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

    /// Takes other triangles. Whatever fails, what is left is a surface without triangles.
    pub(in crate::volume) fn replace(
        &mut self,
        bricks: &Rc<Bricks>,
        take: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.clear();
        self.bricks = bricks.clone();
        let taken = take(self);
        if taken.is_err() {
            self.clear();
        }
        taken
    }

    fn clear(&mut self) {
        self.triangles = 0;
        self.reached.clear();
        self.corners.clear();
        self.order.clear();
    }

    /// Takes triangles into an empty one. Collective.
    pub(in crate::volume) fn take(&mut self, world: &World, of: &Triangles) -> Result<()> {
        world.agree(TAKING, of.check().map_err(Into::into))?;
        let bricks = self.bricks.clone();
        let drawn = bricks.deal(world, of)?;
        let mut reached = BTreeMap::new();
        bricks.reached(world.rank(), &drawn, &mut reached);
        self.finish(world, reached, &drawn, of.triangles.len() as u64)
    }

    /// Takes triangles that stay on the device into an empty one. Collective.
    pub(in crate::volume) fn take_from_device(
        &mut self,
        world: &World,
        intake: &mut Intake,
        of: &DeviceTriangles,
    ) -> Result<()> {
        let bricks = self.bricks.clone();
        let checked = of.check(world).and_then(|()| bricks.check());
        world.agree(TAKING, checked.map_err(Into::into))?;
        let taken = intake.take(world, &bricks, of, (&mut self.corners, &mut self.order));
        let Taken { mut reached, listed } = world.agree(TAKING, taken)?;
        let received = bricks.deal_to_others(world, &listed)?;
        for drawn in [&listed, &received] {
            bricks.reached(world.rank(), drawn, &mut reached);
        }
        self.finish(world, reached, &received, of.count())
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
        let first = self.corners.len() / CORNER_WORDS as u64;
        check_room(world, first + corners.len() as u64, (self.order.len() + order.len() as u64) / 3)?;
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
