//! Solid cells as a bit mask.

use std::ops::Range;
use std::sync::Arc;

use zippy::error::CallSite;
use zippy::{Result, World};

use super::rank_share::rank_share;
use super::solid_error::SolidError;
use super::surface_coverage::SurfaceCoverage;
use super::voxelization_box::VoxelizationBox;

/// Largest number of cells of a mask: 8 GiB of bits.
const MAX_CELLS: i64 = 1 << 36;

/// Set of solid cells: one bit for each cell of the box around them, the same on every rank. Clones
/// share the bits.
#[derive(Debug, Clone, PartialEq)]
pub struct SolidMask {
    start: [i64; 3],
    extents: [i64; 3],
    words: Arc<[u64]>,
    solid_cells: u64,
    /// Cells of a period along each periodic axis.
    periods: [Option<i64>; 3],
    warnings: Arc<[String]>,
    coverage: Option<SurfaceCoverage>,
}

impl SolidMask {
    /// Creates the mask of the cells of a box for which a predicate is true. `start` is the first
    /// cell of the box, `extents` its cells along each axis. Each cell is evaluated on one rank.
    /// Collective.
    ///
    /// # Errors
    /// No memory for the bits; a failure of any rank.
    #[track_caller]
    pub fn from_fn(
        world: &World,
        start: [i64; 3],
        extents: [i64; 3],
        is_solid: impl Fn([i64; 3]) -> bool,
    ) -> Result<Self> {
        let _call = CallSite::enter();
        let [nx, ny, nz] = extents.map(|n| n.max(0));
        let mut builder = SolidMaskBuilder::new_on_all_ranks(world, start, [nx, ny, nz])?;
        for row in rank_share(world, ny * nz) {
            let (y, z) = (row % ny.max(1), row / ny.max(1));
            for x in 0..nx {
                if is_solid([start[0] + x, start[1] + y, start[2] + z]) {
                    builder.set([x, y, z]);
                }
            }
        }
        builder.merge_ranks(world)
    }

    /// True for solid cells, including periodic images; false outside of the box of the mask.
    pub fn contains(&self, cell: [i64; 3]) -> bool {
        let images = |axis: usize| {
            let at = cell[axis] - self.start[axis];
            match self.periods[axis] {
                None => (at..at + 1).step_by(1),
                Some(period) => (at.rem_euclid(period)..self.extents[axis]).step_by(period as usize),
            }
        };
        images(2).any(|z| images(1).any(|y| images(0).any(|x| self.bit([x, y, z]))))
    }

    pub(super) fn contains_unwrapped(&self, cell: [i64; 3]) -> bool {
        self.bit(std::array::from_fn(|axis| cell[axis] - self.start[axis]))
    }

    fn bit(&self, at: [i64; 3]) -> bool {
        (0..3).all(|axis| (0..self.extents[axis]).contains(&at[axis])) && {
            let bit = bit_index(self.extents, at);
            self.words[bit / 64] >> (bit % 64) & 1 == 1
        }
    }

    pub(super) fn start(&self) -> [i64; 3] {
        self.start
    }

    pub(super) fn extents(&self) -> [i64; 3] {
        self.extents
    }

    pub(super) fn placed_in(
        self,
        voxelization_box: &VoxelizationBox,
        mut warnings: Vec<String>,
        coverage: Option<SurfaceCoverage>,
    ) -> Self {
        warnings.extend(coverage.as_ref().and_then(SurfaceCoverage::warning));
        Self { periods: voxelization_box.periods(), warnings: warnings.into(), coverage, ..self }
    }

    /// Warnings about parts of the shape without cells: cut off by a side of the box, or thinner
    /// than a cell.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Coverage of a surface by the cells; `None` for other shapes.
    pub fn coverage(&self) -> Option<&SurfaceCoverage> {
        self.coverage.as_ref()
    }

    /// [`contains`](Self::contains) as a closure for [`Problem::body`](crate::Problem::body).
    pub fn predicate(&self) -> impl Fn([i64; 3]) -> bool + 'static {
        let mask = self.clone();
        move |cell| mask.contains(cell)
    }

    /// Number of solid cells.
    pub fn solid_cells(&self) -> u64 {
        self.solid_cells
    }

    /// The mean position of the solid cells.
    pub fn centroid(&self) -> [f64; 3] {
        let mut sums = [0_i128; 3];
        for cell in self.cells() {
            (0..3).for_each(|axis| sums[axis] += i128::from(cell[axis]));
        }
        sums.map(|sum| sum as f64 / self.solid_cells.max(1) as f64)
    }

    /// The range of the solid cells along each axis; empty without solid cells.
    pub fn bounds(&self) -> [Range<i64>; 3] {
        let mut bounds: [Range<i64>; 3] = Default::default();
        for cell in self.cells() {
            for (range, &x) in bounds.iter_mut().zip(&cell) {
                *range = if range.is_empty() { x..x + 1 } else { range.start.min(x)..range.end.max(x + 1) };
            }
        }
        bounds
    }

    /// Number of solid cells without a solid upper neighbour along each axis: the projected areas
    /// of the solid with all its folds, in cells².
    pub(super) fn projected_areas(&self) -> [u64; 3] {
        let mut areas = [0; 3];
        for cell in self.cells() {
            for (axis, area) in areas.iter_mut().enumerate() {
                let mut above = cell;
                above[axis] += 1;
                *area += u64::from(!self.contains_unwrapped(above));
            }
        }
        areas
    }

    /// Area of the solid's shadow along an axis, in cells²: the cross-section for a stream.
    ///
    /// # Panics
    /// If `axis` is above 2.
    pub fn shadow_area(&self, axis: usize) -> u64 {
        let mut across = self.extents;
        across[axis] = 1;
        let mut is_shaded = vec![false; across.iter().product::<i64>() as usize];
        for cell in self.cells() {
            let mut at: [i64; 3] = std::array::from_fn(|axis| cell[axis] - self.start[axis]);
            at[axis] = 0;
            is_shaded[bit_index(across, at)] = true;
        }
        is_shaded.into_iter().filter(|&is_shaded| is_shaded).count() as u64
    }

    fn cells(&self) -> impl Iterator<Item = [i64; 3]> {
        let set_bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
        let words = self.words.iter().enumerate();
        let bits = words.flat_map(move |(k, &word)| set_bits(word).map(move |bit| 64 * k as i64 + bit));
        let ([x0, y0, z0], [nx, ny, _]) = (self.start, self.extents);
        bits.map(move |bit| [x0 + bit % nx, y0 + bit / nx % ny, z0 + bit / nx / ny])
    }
}

fn bit_index([nx, ny, _]: [i64; 3], [x, y, z]: [i64; 3]) -> usize {
    ((z * ny + y) * nx + x) as usize
}

/// Solid cells that one rank has found.
pub(super) struct SolidMaskBuilder {
    start: [i64; 3],
    extents: [i64; 3],
    words: Vec<u64>,
}

impl SolidMaskBuilder {
    pub(super) fn new(start: [i64; 3], extents: [i64; 3]) -> std::result::Result<Self, SolidError> {
        let cells = extents.iter().try_fold(1_i64, |product, &n| product.checked_mul(n));
        let length = cells.filter(|&cells| cells <= MAX_CELLS).map(|cells| (cells as usize).div_ceil(64));
        let mut words = Vec::new();
        let Some(length) = length.filter(|&length| words.try_reserve_exact(length).is_ok()) else {
            return Err(SolidError::OutOfMemory { extents });
        };
        words.resize(length, 0);
        Ok(Self { start, extents, words })
    }

    /// [`new`](Self::new) with the same error on every rank. Collective.
    pub(super) fn new_on_all_ranks(world: &World, start: [i64; 3], extents: [i64; 3]) -> Result<Self> {
        let builder = Self::new(start, extents).map_err(Into::into);
        world.agree("allocating the cells of a solid", builder)
    }

    pub(super) fn from_mask(mask: &SolidMask) -> Self {
        Self { start: mask.start, extents: mask.extents, words: mask.words.to_vec() }
    }

    pub(super) fn set(&mut self, at: [i64; 3]) {
        let bit = bit_index(self.extents, at);
        self.words[bit / 64] |= 1 << (bit % 64);
    }

    /// Union of the cells of all ranks. Collective.
    pub(super) fn merge_ranks(mut self, world: &World) -> Result<SolidMask> {
        world.group().all_reduce(&mut self.words, |word, other| *word |= *other)?;
        let solid_cells = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        Ok(SolidMask {
            start: self.start,
            extents: self.extents,
            words: self.words.into(),
            solid_cells,
            periods: [None; 3],
            warnings: Arc::new([]),
            coverage: None,
        })
    }
}
