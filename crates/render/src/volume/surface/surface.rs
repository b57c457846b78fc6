//! [`Surface`]: triangles on the devices of the ranks that draw them.

use std::collections::BTreeMap;
use std::rc::Rc;

use zippy::array::Growable;
use zippy::device::Lease;
use zippy::error::CallSite;
use zippy::trace::{has_warned, warn_once};
use zippy::wgpu::BufferUsages;
use zippy::{Result, World};

use super::device_triangles::DeviceTriangles;
use super::distribute::{Bricks, DrawList};
use super::triangle_import::{ImportedTriangles, TriangleImport};
use super::triangles::{CORNER_WORDS, Corner, Triangles, check_capacity};
use crate::error::RenderError;
use crate::volume::bricks::CellBox;
use crate::volume::space::gather_boxes;

/// Surface in a volume, distributed over the ranks; created by
/// [`VolumeRenderer::surface`](crate::volume::VolumeRenderer::surface). Its device arrays grow and
/// never shrink.
#[derive(Debug)]
pub struct Surface {
    corners: Growable<f32>,
    order: Growable<u32>,
    /// Cells that the surface may cross, for each brick of all ranks.
    reached: Vec<Option<CellBox>>,
    triangles: u64,
    bricks: Rc<Bricks>,
}

/// Numbers of triangles of all ranks.
struct TriangleCounts {
    triangles: u64,
    /// Number of triangles outside of the volume.
    outside: u64,
    /// True if rank 0 has warned at this call site.
    has_warned: bool,
}

/// Number of positions per read from the device.
const READ_AT_ONCE: u64 = 1 << 18;

/// Least coordinates of positions, followed by the negated greatest coordinates; element-wise
/// minima over ranks give the bounds of all positions.
struct PositionBounds([f32; 6]);

impl Default for PositionBounds {
    fn default() -> Self {
        Self([f32::INFINITY; 6])
    }
}

impl PositionBounds {
    fn widen(&mut self, positions: &[[f32; 3]]) {
        for position in positions {
            for (bound, part) in self.0.iter_mut().zip(position.iter().copied().chain(position.map(|part| -part))) {
                *bound = bound.min(part);
            }
        }
    }
}

/// Name of the call in errors.
const SET_SURFACE: &str = "set_surface(…)";

impl Surface {
    pub(in crate::volume) fn new(world: &World, name: &str, bricks: &Rc<Bricks>) -> Result<Self> {
        let corners = world.growable(&format!("{name}.corners"))?.with_usages(BufferUsages::VERTEX)?;
        let order = world.growable(&format!("{name}.order"))?.with_usages(BufferUsages::INDEX)?;
        Ok(Self { corners, order, reached: Vec::new(), triangles: 0, bricks: bricks.clone() })
    }

    /// Replaces the triangles by calling `take` on an empty surface. After an error the surface has
    /// no triangles.
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

    /// Adds triangles to an empty surface. Collective.
    pub(in crate::volume) fn take(&mut self, world: &World, source: &Triangles<'_>) -> Result<()> {
        world.agree(SET_SURFACE, source.check().map_err(Into::into))?;
        let bricks = self.bricks.clone();
        let drawn = bricks.distribute(world, source)?;
        let mut reached = BTreeMap::new();
        bricks.reached(world.rank(), &drawn, &mut reached);
        let counts = [source.triangles.len() as u64, bricks.outside(source)];
        let counts = self.finish(world, reached, &drawn, counts)?;
        self.warn_of_placement(world, &counts, |bounds| {
            bounds.widen(source.positions);
            Ok(())
        })
    }

    /// Adds triangles that stay on the device to an empty surface. Collective.
    pub(in crate::volume) fn take_from_device(
        &mut self,
        world: &World,
        intake: &mut TriangleImport,
        source: &DeviceTriangles<'_>,
    ) -> Result<()> {
        let bricks = self.bricks.clone();
        let checked = source.check(world).and_then(|()| bricks.check());
        world.agree(SET_SURFACE, checked.map_err(Into::into))?;
        let taken = intake.take(world, &bricks, source, (&mut self.corners, &mut self.order));
        let ImportedTriangles { mut reached, listed, outside } = world.agree(SET_SURFACE, taken)?;
        let received = bricks.distribute_to_others(world, &listed)?;
        for drawn in [&listed, &received] {
            bricks.reached(world.rank(), drawn, &mut reached);
        }
        let counts = self.finish(world, reached, &received, [source.count(), outside])?;
        self.warn_of_placement(world, &counts, |bounds| {
            let count = source.positions.len();
            for first in (0..count).step_by(3 * READ_AT_ONCE as usize) {
                let end = count.min(first + 3 * READ_AT_ONCE);
                bounds.widen(source.positions.at(first..end).read()?.as_chunks().0);
            }
            Ok(())
        })
    }

    /// Appends the triangles in `drawn` to those of this rank and returns the counts of all ranks.
    /// Collective.
    ///
    /// * `reached`: for each brick of this rank the cells that the surface may reach into.
    /// * `triangles`, `outside`: numbers of this rank's triangles, and of those outside of the
    ///   volume.
    fn finish(
        &mut self,
        world: &World,
        reached: BTreeMap<usize, CellBox>,
        drawn: &DrawList,
        [triangles, outside]: [u64; 2],
    ) -> Result<TriangleCounts> {
        self.reached = gather_boxes(world, reached, self.bricks.lattice.count())?;
        let mut sums = [triangles, outside, u64::from(world.rank() == 0 && has_warned(CallSite::here()))];
        world.group().all_reduce(&mut sums, |sum, more| *sum += more)?;
        world.agree(SET_SURFACE, self.append(world, drawn))?;
        let [triangles, outside, warned] = sums;
        self.triangles = triangles;
        Ok(TriangleCounts { triangles, outside, has_warned: warned > 0 })
    }

    /// Warns, once per call site, if positions are coarse for the voxels, or if more than half of
    /// the triangles lie outside of the volume. Collective. `widen_bounds` widens bounds to contain
    /// the positions of this rank.
    fn warn_of_placement(
        &self,
        world: &World,
        &TriangleCounts { triangles, outside, has_warned }: &TriangleCounts,
        widen_bounds: impl FnOnce(&mut PositionBounds) -> Result<()>,
    ) -> Result<()> {
        if has_warned || triangles == 0 {
            return Ok(());
        }
        let bricks = &self.bricks;
        let [low, high] = bricks.bounds();
        if 2 * outside <= triangles {
            let coarse = bricks.coarse_position_distance().filter(|_| world.rank() == 0);
            if let Some(distance) = coarse {
                warn_once(CallSite::here(), || {
                    format!(
                        "positions of {:?} are numbers of 32 bits, {distance} apart where the volume is, from {low:?} to \
                         {high:?}, and its voxels are {:?} apart; move grid, triangles, camera and clip planes, with the \
                         volume close to the origin of space",
                        self.name(),
                        bricks.grid.spacing
                    )
                });
            }
            return Ok(());
        }
        let mut bounds = PositionBounds::default();
        let widened = widen_bounds(&mut bounds);
        world.agree(SET_SURFACE, widened)?;
        world.group().all_reduce(&mut bounds.0, |least, other| *least = least.min(*other))?;
        if world.rank() == 0 {
            let [x, y, z, minus_high_x, minus_high_y, minus_high_z] = bounds.0;
            warn_once(CallSite::here(), || {
                format!(
                    "{outside} of {triangles} triangles of {:?} lie outside of the volume: the surface reaches from {:?} to \
                     {:?}, the volume from {low:?} to {high:?}; a mesh and a volume need the same grid",
                    self.name(),
                    [x, y, z],
                    [-minus_high_x, -minus_high_y, -minus_high_z]
                )
            });
        }
        Ok(())
    }

    fn name(&self) -> &str {
        self.order.name().trim_end_matches(".order")
    }

    fn append(&mut self, world: &World, DrawList { corners, order }: &DrawList) -> Result<()> {
        let first = self.corners.len() / CORNER_WORDS as u64;
        check_capacity(world, first + corners.len() as u64, (self.order.len() + order.len() as u64) / 3)?;
        self.corners.append(bytemuck::cast_slice(corners))?;
        match first {
            0 => self.order.append(order),
            _ => self.order.append(&order.iter().map(|index| first as u32 + index).collect::<Vec<_>>()),
        }
    }

    /// Checks that the surface belongs to these bricks.
    pub(in crate::volume) fn check(&self, bricks: &Rc<Bricks>) -> Result<(), RenderError> {
        if Rc::ptr_eq(&self.bricks, bricks) || self.bricks == *bricks {
            return Ok(());
        }
        let message = format!(
            "{:?} is a surface in a volume of other voxels, bricks or owners; give its triangles to this renderer",
            self.name()
        );
        Err(RenderError::Surface(message))
    }

    /// Number of triangles of all ranks.
    pub fn triangles(&self) -> u64 {
        self.triangles
    }

    /// Cells of a brick that the surface may cross.
    pub(in crate::volume) fn reached(&self, brick: usize) -> Option<CellBox> {
        self.reached.get(brick).copied().flatten()
    }

    /// Vertices, draw order, and number of indices to draw on this rank; `None` if there is nothing
    /// to draw.
    pub(super) fn buffers(&self) -> Result<Option<(Lease, Lease, u32)>> {
        let count = self.order.len() as u32;
        let both = (self.corners.lease()?, self.order.lease()?);
        Ok(match both {
            (Some(corners), Some(order)) if count > 0 => Some((corners, order, count)),
            _ => None,
        })
    }
}

pub(super) const CORNER_BYTES: u64 = size_of::<Corner>() as u64;
