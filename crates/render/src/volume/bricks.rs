//! [`Lattice`]: lattice of bricks at which rays are cut, a function of the volume's shape only.

use zippy::extents::Index;
use zippy::region::Region;

use super::look::Mode;
use super::view::View;
use crate::error::RenderError;

/// Half-open box of cells: first cell, and one past the last cell, along each axis. Cell `c` lies
/// between voxels `c` and `c + 1`.
pub(super) type CellBox = ([i32; 3], [i32; 3]);

/// Half-open box of bricks.
pub(super) type BrickBox = ([i64; 3], [i64; 3]);

pub(super) fn bounding_box((low, high): &CellBox, (other_low, other_high): &CellBox) -> CellBox {
    let low = std::array::from_fn(|axis| low[axis].min(other_low[axis]));
    (low, std::array::from_fn(|axis| high[axis].max(other_high[axis])))
}

/// Cells along a side of a block; bricks consist of whole blocks; see
/// [`Space`](super::space::Space).
pub(super) const BLOCK: i64 = 8;

/// Maximum number of bricks; every rank stores all of them.
const MAX_BRICKS: i64 = 1 << 16;

/// Lattice of bricks. Brick `[i, j, k]` holds the cells from `side * [i, j, k]` up to the next
/// brick; the last bricks hold the remainder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lattice {
    voxels: [i64; 3],
    side: i64,
    counts: [i64; 3],
}

/// Halves of a box of bricks, cut across its longest axis; `None` for a single brick.
pub(super) fn halves((low, high): &BrickBox) -> Option<[BrickBox; 2]> {
    let axis = (0..3).max_by_key(|&axis| (high[axis] - low[axis], axis)).filter(|&axis| high[axis] - low[axis] > 1)?;
    let (mut end, mut start) = (*high, *low);
    end[axis] = low[axis].midpoint(high[axis]);
    start[axis] = end[axis];
    Some([(*low, end), (start, *high)])
}

/// Box of adjacent bricks of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnedBricks {
    pub bricks: BrickBox,
    pub rank: usize,
}

impl Lattice {
    /// Lattice of a volume of at least two voxels per axis. `side` is in cells.
    ///
    /// Default side for `None`:
    ///
    /// - in reproducible mode, a quarter of the longest axis, as whole blocks within 32 to 128, and
    ///   more if there would be too many bricks;
    /// - in fast mode, a sixteenth within 8 to 128: bricks only decide ownership, and their boxes
    ///   follow the user's chunks.
    ///
    /// # Errors
    /// A side that is not a multiple of the block size, or that makes too many bricks.
    pub(super) fn new(voxels: [i64; 3], side: Option<i64>, mode: Mode) -> Result<Self, RenderError> {
        let counts = |side: i64| voxels.map(|n| (n - 2 + side) / side);
        let many = |side: i64| counts(side).iter().map(|&count| i128::from(count)).product::<i128>();
        let longest = voxels.iter().fold(2, |most, &n| most.max(n)) - 1;
        let side = match side {
            Some(side) if !(BLOCK..=4096).contains(&side) || side % BLOCK != 0 => {
                let message = format!("bricks of {side} cells a side; it must be a multiple of {BLOCK} up to 4096");
                return Err(RenderError::Setting(message));
            }
            Some(side) if many(side) > i128::from(MAX_BRICKS) => {
                let message =
                    format!("{} bricks of {side} cells a side; at most {MAX_BRICKS} are possible", many(side));
                return Err(RenderError::Setting(message));
            }
            Some(side) => side,
            None => {
                let (share, least) = match mode {
                    Mode::Reproducible => (4, 32),
                    Mode::Fast => (16, BLOCK),
                };
                let mut side = ((longest + share - 1) / share + BLOCK - 1) / BLOCK * BLOCK;
                side = side.clamp(least, 128);
                while many(side) > i128::from(MAX_BRICKS) {
                    side *= 2;
                }
                side
            }
        };
        Ok(Self { voxels, side, counts: counts(side) })
    }

    pub(super) fn count(&self) -> usize {
        self.counts.iter().product::<i64>() as usize
    }

    /// Cells along a side of a brick.
    pub(super) fn side(&self) -> i32 {
        self.side as i32
    }

    /// Number of bricks along each axis.
    pub(super) fn counts(&self) -> [i32; 3] {
        self.counts.map(|count| count as i32)
    }

    pub(super) fn cell_counts(&self) -> [i32; 3] {
        self.voxels.map(|n| (n - 1) as i32)
    }

    /// Maximum number of bricks on a ray: along a ray each brick coordinate is monotonic.
    pub(super) fn max_bricks_on_ray(&self) -> i64 {
        self.counts.iter().sum::<i64>() - 2
    }

    /// Coordinates of a brick in the lattice; bricks are numbered axis 0 fastest.
    pub(super) fn coordinates(&self, brick: usize) -> [i64; 3] {
        let (brick, [x, y, _]) = (brick as i64, self.counts);
        [brick % x, brick / x % y, brick / x / y]
    }

    fn number(&self, [x, y, z]: [i64; 3]) -> usize {
        (x + self.counts[0] * (y + self.counts[1] * z)) as usize
    }

    /// Numbers of the bricks in a box.
    pub(super) fn within(&self, (low, high): &BrickBox) -> impl Iterator<Item = usize> + use<'_> {
        let (low, high) = (*low, *high);
        let rows = (low[2]..high[2]).flat_map(move |z| (low[1]..high[1]).map(move |y| (y, z)));
        rows.flat_map(move |(y, z)| (low[0]..high[0]).map(move |x| self.number([x, y, z])))
    }

    /// Box of a single brick.
    pub(super) fn single(&self, brick: usize) -> BrickBox {
        let low = self.coordinates(brick);
        (low, low.map(|at| at + 1))
    }

    /// Box of the bricks that hold a non-empty box of cells.
    pub(super) fn around(&self, (low, high): &CellBox) -> BrickBox {
        let end = |axis: usize| (i64::from(high[axis]) + self.side - 1) / self.side;
        (low.map(|at| i64::from(at) / self.side), std::array::from_fn(end))
    }

    /// Cells of a box of bricks.
    pub(super) fn cells(&self, (low, high): &BrickBox) -> CellBox {
        let first = low.map(|at| (at * self.side) as i32);
        (first, std::array::from_fn(|axis| (high[axis] * self.side).min(self.voxels[axis] - 1) as i32))
    }

    /// Voxels of a box of bricks: the lower corners of its cells, and the last voxels of the
    /// volume.
    pub(super) fn voxels(&self, bricks: &BrickBox) -> Region {
        let (low, high) = self.cells(bricks);
        let end = |axis: usize| i64::from(high[axis]) + i64::from(bricks.1[axis] == self.counts[axis]);
        Region::between(Index::from_fn(3, |axis| low[axis].into()), Index::from_fn(3, end))
    }

    /// Depth of bricks for a view: along every ray, depth ascends from brick to brick.
    ///
    /// Perspective rays lead away from the eye's brick along each axis; parallel rays have one
    /// direction. The eye is in single precision, as in the ray caster.
    pub(super) fn depth(&self, view: &View) -> impl Fn(usize) -> i64 {
        let far = (1_i64 << 40) as f64;
        let eye = view.eye.map(|at| (f64::from(at) / self.side as f64).floor().clamp(-far, far) as i64);
        let sign = view.parallel_direction().map(|part| i64::from(part > 0.0) - i64::from(part < 0.0));
        move |brick| {
            let coordinates = self.coordinates(brick);
            let along = |axis: usize| {
                if view.parallel { sign[axis] * coordinates[axis] } else { (coordinates[axis] - eye[axis]).abs() }
            };
            along(0) + along(1) + along(2)
        }
    }

    /// Merges the bricks of each rank into few boxes: a box grows along axis 0, then 1, then 2, as
    /// far as `owners` (one per brick) and `fits` allow. Equal on all ranks.
    pub(super) fn merge(&self, owners: &[usize], fits: impl Fn(&BrickBox) -> bool) -> Vec<OwnedBricks> {
        let mut taken = vec![false; owners.len()];
        let mut held = Vec::new();
        for first in 0..owners.len() {
            if taken[first] {
                continue;
            }
            let (rank, mut bricks) = (owners[first], self.single(first));
            for axis in 0..3 {
                while bricks.1[axis] < self.counts[axis] {
                    let (mut next, mut grown) = (bricks, bricks);
                    (next.0[axis], next.1[axis]) = (bricks.1[axis], bricks.1[axis] + 1);
                    grown.1[axis] += 1;
                    if !fits(&grown) || self.within(&next).any(|brick| taken[brick] || owners[brick] != rank) {
                        break;
                    }
                    bricks = grown;
                }
            }
            self.within(&bricks).for_each(|brick| taken[brick] = true);
            held.push(OwnedBricks { bricks, rank });
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::test_grids::{COUNT, grid_and_camera};
    use crate::volume::{Camera, Projection};
    use proptest::prelude::*;

    #[test]
    fn sides_are_whole_blocks_of_a_quarter_of_the_longest_axis() {
        let side = |voxels| Lattice::new(voxels, None, Mode::Reproducible).unwrap().side;
        assert_eq!(side([2, 2, 2]), 32);
        assert_eq!(side([256, 256, 128]), 64);
        assert_eq!(side([2, 300, 2]), 80);
        assert_eq!(side([2000, 2, 2]), 128);
        assert_eq!(side([1 << 14, 1 << 14, 1 << 14]), 512);
        let fast = |voxels| Lattice::new(voxels, None, Mode::Fast).unwrap().side;
        assert_eq!([fast([2, 2, 2]), fast([256, 256, 128]), fast([2, 300, 2]), fast([1 << 14; 3])], [8, 16, 24, 512]);
        assert_eq!(Lattice::new([65, 64, 2], Some(16), Mode::Fast).unwrap().counts, [4, 4, 1]);
        for (side, wanted) in [(0, "0 cells"), (12, "multiple of 8"), (-8, "-8"), (8, "bricks of 8")] {
            let error = Lattice::new([1 << 12, 1 << 12, 4], Some(side), Mode::Fast).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        /// Every cell and voxel is in one box, of its brick's owner and within the size limit.
        #[test]
        fn boxes_cover_the_volume_once(
            voxels in prop::array::uniform3(2_i64..60),
            ranks in 1_usize..4,
            seed in any::<u64>(),
            most in 1_i64..30,
        ) {
            let lattice = Lattice::new(voxels, Some(8), Mode::Reproducible).unwrap();
            let mixed = |brick: usize| (seed.wrapping_mul(brick as u64 | 1) >> 33) as usize;
            let owners: Vec<usize> = (0..lattice.count()).map(|brick| mixed(brick / 3) % ranks).collect();
            let size = |(low, high): &BrickBox| (0..3).map(|axis| high[axis] - low[axis]).product::<i64>();
            let held = lattice.merge(&owners, |bricks| size(bricks) <= most);
            let mut times = vec![0; lattice.count()];
            let (mut cells, mut of_voxels) = (0, 0);
            for OwnedBricks { bricks, rank } in &held {
                prop_assert!(size(bricks) <= most);
                for brick in lattice.within(bricks) {
                    times[brick] += 1;
                    prop_assert_eq!(owners[brick], *rank);
                    prop_assert_eq!(lattice.number(lattice.coordinates(brick)), brick);
                }
                let (low, high) = lattice.cells(bricks);
                cells += (0..3).map(|axis| i64::from(high[axis] - low[axis])).product::<i64>();
                of_voxels += lattice.voxels(bricks).cells() as i64;
            }
            prop_assert!(times.iter().all(|&times| times == 1));
            prop_assert_eq!(cells, voxels.iter().map(|n| n - 1).product::<i64>());
            prop_assert_eq!(of_voxels, voxels.iter().product::<i64>());
        }

        #[test]
        fn depth_ascends_along_rays(
            voxels in prop::array::uniform3(2_i64..50),
            eye in prop::array::uniform3(-30..80_i32),
            towards in prop::array::uniform3(-3..4_i32),
            parallel in any::<bool>(),
            spacing in prop::array::uniform3(0.5..2.0_f64),
            number in 0..COUNT,
        ) {
            prop_assume!(towards != [0; 3]);
            // Whole numbers also put eyes on the planes between bricks.
            let position: [f64; 3] = std::array::from_fn(|axis| f64::from(eye[axis]) * spacing[axis]);
            let camera = Camera {
                position,
                focal_point: std::array::from_fn(|axis| position[axis] + f64::from(towards[axis])),
                view_up: [0.31, 0.22, 0.93],
                projection: if parallel {
                    Projection::Parallel { half_height: 30.0 }
                } else {
                    Projection::Perspective { vertical_fov_degrees: 80.0 }
                },
            };
            let lattice = Lattice::new(voxels, Some(8), Mode::Reproducible).unwrap();
            let (grid, camera) = grid_and_camera(number, spacing, &camera);
            let view = View::new(&camera, (13, 9), voxels, grid, 0.3).unwrap();
            let depth = lattice.depth(&view);
            for pixel in 0..13 * 9 {
                let ray = view.ray(pixel % 13, pixel / 13);
                let mut last: Option<usize> = None;
                for sample in 0..ray.samples {
                    let cell = ray.cell(sample, view.cells);
                    let brick = lattice.number(cell.map(|at| i64::from(at) / lattice.side));
                    if let Some(last) = last.filter(|&last| last != brick) {
                        prop_assert!(depth(last) < depth(brick), "from brick {} to {}", last, brick);
                    }
                    last = Some(brick);
                }
            }
        }
    }
}
