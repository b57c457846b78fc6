//! Lists of boundary cells.

use std::ops::Range;

use zippy::{LocalArray, Result, World};

use crate::boundary_cell::BoundaryCell;
use crate::error::FlowError;
use crate::problem::Problem;

pub(super) struct BoundaryLists {
    /// Cells that move, mirror or are open, chunk by chunk and sorted by kind.
    pub cells: LocalArray<BoundaryCell, 1>,
    /// Ranges of `cells`, per chunk.
    pub chunks: Vec<ChunkBoundary>,
    /// Surfaces of bodies, with their images beyond free-slip sides.
    pub bodies: Vec<BodySurface>,
    pub outlet_cells: u64,
    pub fluid_cells: u64,
}

/// Ranges of a chunk's boundary cells.
pub(super) struct ChunkBoundary {
    pub moving: Range<i64>,
    pub mirrors: Range<i64>,
    /// Open cells; outlets are last.
    pub open: Range<i64>,
    pub outlets: Range<i64>,
}

/// Surface cells of a body, which touch fluid.
pub(super) struct BodySurface {
    pub cells: LocalArray<BoundaryCell, 1>,
    /// Ranges of `cells`, per chunk.
    pub chunks: Vec<Range<i64>>,
    /// Number of cells in the box, without images.
    pub box_cells: u64,
}

/// Numbers of cells on all ranks.
pub(super) struct CellTotals {
    pub fluid: u64,
    pub outlets: u64,
    /// Surface cells of each body.
    pub surfaces: Vec<u64>,
}

impl BoundaryLists {
    /// Sums the numbers of cells of all ranks; refuses a flow without fluid. Collective.
    pub(super) fn total(&self, world: &World, problem: &Problem) -> Result<CellTotals> {
        let mut sums = vec![self.fluid_cells, self.outlet_cells];
        sums.extend(self.bodies.iter().map(|body| body.box_cells));
        world.group().all_reduce(&mut sums, |sum, other| *sum += *other)?;
        let surfaces = sums.split_off(2);
        let totals = CellTotals { fluid: sums[0], outlets: sums[1], surfaces };
        if totals.fluid == 0 {
            return Err(FlowError::NoFluid { cells: problem.extents.iter().product() }.into());
        }
        Ok(totals)
    }
}
