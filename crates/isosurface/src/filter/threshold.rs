//! Threshold: the cells of a field with values in a range.

use std::ops::RangeInclusive;

use zippy::Result;
use zippy::error::CallSite;

use super::solid::{BrickSelection, Filter, KeptCells, solid};
use crate::error::IsosurfaceError;
use crate::extract::Extractor;
use crate::field::attribute::{Attribute, FittedArray};
use crate::field::block::{BRICK, Block, ROWS, Samples, Span, row};
use crate::field::bricked_chunk::BrickedChunk;
use crate::field::tree::Extremes;
use crate::sample::Sample;
use crate::volume_mesh::VolumeMesh;

/// Corners of a cell that must have values in the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Corners {
    /// All eight corners.
    All,
    /// At least one corner.
    Any,
}

impl<T: Sample> Extractor<'_, T> {
    /// Selects the grid cells with all or any corners in a range of values, both ends included.
    /// Returns hexahedra with the values of the field, and then of `attributes`, at their points.
    /// NaN is in no range. Collective; on return every rank has its part. The field needs a ghost
    /// cell before and two after each chunk, as for [`with_normals`](Self::with_normals); otherwise
    /// it is copied at each call.
    ///
    /// # Errors
    /// A range with NaN or in descending order; a rank with 2^32 points or more, including ghosts;
    /// an array of another shape; a transfer or a device fails.
    #[track_caller]
    pub fn threshold(
        &self,
        range: RangeInclusive<f32>,
        corners: Corners,
        attributes: &[&dyn Attribute],
    ) -> Result<VolumeMesh> {
        let _call = CallSite::enter();
        let (low, high) = range.into_inner();
        let checked = if low <= high { Ok(()) } else { Err(IsosurfaceError::Range(low, high).into()) };
        self.world().agree(&format!("threshold({low}..={high}, Corners::{corners:?})"), checked)?;
        let mut view = self.view();
        let wide = FittedArray::new(view.world, self.field(), view.placement, (1, 2))?;
        view.samples = &wide;
        solid(&view, self.field().name(), &Threshold { low, high, corners }, attributes)
    }
}

struct Threshold {
    low: f32,
    high: f32,
    corners: Corners,
}

/// Rows around a brick: one before it, its own, and two after it.
const AROUND: [usize; 2] = [BRICK[1] + 3, BRICK[2] + 3];

/// Bits of samples or of cells around a brick: row `y`, `z` in `[z + 1][y + 1]`, index `x` in bit
/// `x + 1`.
type Bits = [[u64; AROUND[0]]; AROUND[1]];

impl Filter for Threshold {
    fn may_keep(&self, found: Extremes) -> bool {
        found.least <= self.high && found.largest >= self.low
    }

    fn reaches_next_bricks(&self) -> bool {
        self.corners == Corners::Any
    }

    fn keep(&self, at: [i64; 3], part: &BrickedChunk, samples: &dyn Samples, block: &mut Block) -> BrickSelection {
        let own = part.samples(at);
        let around = part.with_around(&own);
        samples.load(part.in_memory(&own).start, part.in_memory(&around), block);
        let counted = |at: [i64; 3]| std::array::from_fn(|axis| at[axis] - own.start[axis]);
        let cells = self.cells(&Span { start: counted(around.start), end: counted(around.end) }, block);
        let mut kept = BrickSelection { points: [[0; ROWS]; 8], cells: KeptCells { whole: [0; ROWS], inside: None } };
        let [width, height, depth] = own.extents().map(|count| count as usize);
        let own_ones = (1 << width) - 1;
        for z in 0..depth {
            for y in 0..height {
                // Samples are corners of the cells before and after them.
                let corner_cells = cells[z][y] | cells[z][y + 1] | cells[z + 1][y] | cells[z + 1][y + 1];
                kept.points[0][row(y, z)] = ((corner_cells | corner_cells << 1) >> 1 & own_ones) as u32;
                kept.cells.whole[row(y, z)] = (cells[z + 1][y + 1] >> 1 & own_ones) as u32;
            }
        }
        kept
    }

    fn isovalue(&self) -> f32 {
        // A threshold has no points between samples.
        self.low
    }
}

impl Threshold {
    /// Kept cells around a brick.
    fn cells(&self, around: &Span, block: &Block) -> Bits {
        let mut samples: Bits = [[0; AROUND[0]]; AROUND[1]];
        let index = |at: i64| (at + 1) as usize;
        for z in around.start[2]..around.end[2] {
            for y in around.start[1]..around.end[1] {
                let row = block.row(around.start[0]..around.end[0], y, z).iter().enumerate();
                let is_in = |value: f32| value >= self.low && value <= self.high;
                let bits = row.fold(0, |bits, (x, &value)| bits | u64::from(is_in(value)) << x);
                samples[index(z)][index(y)] = bits << index(around.start[0]);
            }
        }
        let begin = (1 << index(around.end[0] - 1)) - 1;
        let begin = begin >> index(around.start[0]) << index(around.start[0]);
        let mut cells: Bits = [[0; AROUND[0]]; AROUND[1]];
        for z in index(around.start[2])..index(around.end[2] - 1) {
            for y in index(around.start[1])..index(around.end[1] - 1) {
                let four = [samples[z][y], samples[z][y + 1], samples[z + 1][y], samples[z + 1][y + 1]];
                let found = match self.corners {
                    Corners::All => four.iter().fold(u64::MAX, |all, bits| all & bits & bits >> 1),
                    Corners::Any => four.iter().fold(0, |any, bits| any | bits | bits >> 1),
                };
                cells[z][y] = found & begin;
            }
        }
        cells
    }
}
