//! Distribution of triangles over ranks. The rank that casts a brick blends the fragments in it;
//! therefore each rank needs the triangles that may cross its bricks, and, because rasterisers move
//! vertices by parts of a pixel, those within half a voxel.
//!
//! All operations are in `f32` and round equally on all devices: kernels and host find the same
//! cells. A kernel compares a triangle with at most 64 bricks, since the other invocations of its
//! workgroup wait; the host compares larger triangles.
//! invocations of its workgroup wait; the host compares larger triangles.

use std::collections::{BTreeMap, HashMap};

use zippy::transport::{copied, values};
use zippy::{Grid, Result, World};

use super::triangles::{Corner, Triangles};
use crate::error::RenderError;
use crate::volume::bricks::{CellBox, Lattice, bounding_box};

/// Triangles to draw, and their vertices.
#[derive(Debug, Default)]
pub(super) struct DrawList {
    pub corners: Vec<Corner>,
    pub order: Vec<u32>,
}

impl DrawList {
    fn triangles(&self) -> &[[u32; 3]] {
        self.order.as_chunks().0
    }
}

/// Triangles for one rank, during collection.
#[derive(Default)]
struct PartialDrawList {
    drawn: DrawList,
    /// Index of each vertex in the collected list: as a list, or as a map.
    near: Vec<u32>,
    far: HashMap<u32, u32>,
}

/// Index of a vertex that is not collected yet.
const NOT_LISTED: u32 = u32::MAX;

/// Positions and owners of bricks.
#[derive(Debug, PartialEq)]
pub(in crate::volume) struct Bricks {
    pub lattice: Lattice,
    /// Owner rank of each brick.
    pub ranks: Vec<usize>,
    pub grid: Grid,
}

/// Affine map from positions to voxels, with coefficients that are exact in `f32`.
#[derive(Debug, Clone, Copy)]
pub(in crate::volume) struct ToVoxels {
    /// Position of the first voxel.
    pub origin: [f64; 3],
    /// Exact position of the first voxel minus [`origin`](Self::origin), rounded to `f32`.
    pub origin_remainder: [f64; 3],
    /// Columns of the matrix from vectors in space to voxels.
    pub columns: [[f64; 3]; 3],
}

/// Share of the least spacing above which the distance of neighbouring `f32` positions is coarse.
const COARSE_SHARE: f64 = 1.0 / 16.0;

/// Limit of positions and voxels. Larger ones lie outside of every image; sums of three smaller
/// ones are finite.
pub(super) const BEYOND: f64 = 1e38;

impl ToVoxels {
    /// Voxel coordinates of a position, with the rounding of `f32` operations. Equivalent to
    /// `shaders/surface/corner.wgsl`.
    pub(crate) fn apply(&self, position: [f32; 3]) -> [f32; 3] {
        let subtract = |a: f32, b: f64| (f64::from(a) - b).clamp(f32::MIN.into(), f32::MAX.into()) as f32;
        let offset: [f32; 3] =
            std::array::from_fn(|row| subtract(subtract(position[row], self.origin[row]), self.origin_remainder[row]));
        let term = |column: usize, row: usize| {
            (f64::from(offset[column]) * self.columns[column][row]).clamp(-BEYOND, BEYOND) as f32
        };
        std::array::from_fn(|row| term(0, row) + term(1, row) + term(2, row))
    }

    /// True if kernels can represent all coefficients in `f32`.
    fn is_single(&self) -> bool {
        self.origin.iter().chain(self.columns.as_flattened()).all(|&number| f64::from(number as f32) == number)
    }
}

impl Bricks {
    /// Map from positions to voxels, rounded to `f32` as far as possible.
    pub(crate) fn to_voxels(&self) -> ToVoxels {
        let single = |number: f64, is_one: fn(f32) -> bool| {
            let rounded = number as f32;
            if is_one(rounded) { f64::from(rounded) } else { number }
        };
        let column = |column: [f64; 3]| -> [f64; 3] {
            std::array::from_fn(|axis| {
                // Rounds away the numerical error of right angles.
                let part = if column[axis].abs() < 1e-12 { 0.0 } else { column[axis] / self.grid.spacing[axis] };
                if part == 0.0 { part } else { single(part, f32::is_normal) }
            })
        };
        let origin = self.grid.origin.map(|part| single(part, f32::is_finite));
        let remainder = |row: usize| match (self.grid.origin[row] - origin[row]) as f32 {
            remainder if remainder.is_normal() => f64::from(remainder),
            _ => 0.0,
        };
        let origin_remainder = std::array::from_fn(remainder);
        ToVoxels { origin, origin_remainder, columns: self.grid.inverse().map(column) }
    }

    /// Checks that devices can represent the map.
    pub(crate) fn check(&self) -> std::result::Result<(), RenderError> {
        if self.to_voxels().is_single() {
            Ok(())
        } else {
            Err(RenderError::Surface(format!(
                "voxels {:?} apart, the first at {:?}; triangles on the device need distances from 3e-39 to 8.5e37 and \
                 positions up to 3e38, those of the host take any",
                self.grid.spacing, self.grid.origin
            )))
        }
    }

    /// Least and greatest coordinates of the voxels in space.
    pub(crate) fn bounds(&self) -> [[f64; 3]; 2] {
        self.grid.bounds(self.lattice.cell_counts().map(|cells| i64::from(cells) + 1))
    }

    /// Distance of neighbouring `f32` positions at the far end of the volume, if it is coarse.
    pub(crate) fn coarse_position_distance(&self) -> Option<f64> {
        let farthest = self.bounds().as_flattened().iter().fold(0.0_f64, |most, part| most.max(part.abs())) as f32;
        let distance = f64::from(farthest.next_up()) - f64::from(farthest);
        let least_spacing = self.grid.spacing.iter().fold(f64::INFINITY, |least, &length| least.min(length));
        (farthest.is_normal() && distance > COARSE_SHARE * least_spacing).then_some(distance)
    }

    /// Upper bound, in voxels, of the rounding of fragments. It also covers rasterisers that move
    /// vertices by a sixteenth of a pixel, for pixels of up to eight voxels.
    pub(crate) fn margin(&self) -> [f32; 3] {
        self.lattice.cell_counts().map(|cells| (0.5 + 1e-6 * f64::from(cells)) as f32)
    }

    /// Number of triangles that lie outside of the volume by more than the margin. Equivalent to
    /// `shaders/surface/reached.wgsl`.
    pub(super) fn outside(&self, source: &Triangles<'_>) -> u64 {
        let (to_voxels, margin, cells) = (self.to_voxels(), self.margin(), self.lattice.cell_counts());
        let is_outside = |corners: &&[u32; 3]| {
            let positions = corners.map(|vertex| to_voxels.apply(source.positions[vertex as usize]));
            (0..3).any(|axis| {
                let along = positions.map(|position| position[axis]);
                along.iter().all(|&at| at + margin[axis] < 0.0)
                    || along.iter().all(|&at| at - margin[axis] > cells[axis] as f32)
            })
        };
        source.triangles.iter().filter(is_outside).count() as u64
    }

    /// Cells that a triangle may cross, including cells around the volume.
    fn cells(&self, positions: [[f32; 3]; 3]) -> CellBox {
        let margin = self.margin();
        let ends = |axis: usize| {
            let along = positions.map(|position| position[axis]);
            let low = along.into_iter().fold(f32::INFINITY, f32::min);
            let high = along.into_iter().fold(f32::NEG_INFINITY, f32::max);
            [(low - margin[axis]).floor(), (high + margin[axis]).floor() + 1.0]
        };
        // Fragments outside of the volume belong to the cells at its border.
        let last = |axis: usize| self.lattice.cell_counts()[axis] as f32;
        let low = std::array::from_fn(|axis| ends(axis)[0].clamp(0.0, last(axis) - 1.0) as i32);
        (low, std::array::from_fn(|axis| ends(axis)[1].clamp(1.0, last(axis)) as i32))
    }

    /// Sends each triangle to the ranks of the bricks that it may cross; returns the triangles that
    /// this rank draws. Collective.
    pub(super) fn distribute(&self, world: &World, source: &Triangles<'_>) -> Result<DrawList> {
        let to_voxels = self.to_voxels();
        // Most triangles stay on this rank, which therefore has a list instead of a map.
        let own = PartialDrawList { near: vec![NOT_LISTED; source.positions.len()], ..PartialDrawList::default() };
        let lists = BTreeMap::from([(world.rank(), own)]);
        let mut lists =
            self.collect(source.triangles, |vertex| source.corner(vertex as usize, &to_voxels), None, lists);
        let mut all = lists.remove(&world.rank()).map(|own| own.drawn).unwrap_or_default();
        exchange(world, &lists, &mut all)?;
        Ok(all)
    }

    /// [`distribute`](Self::distribute) for triangles that this rank already has; returns those of
    /// other ranks. Collective.
    pub(super) fn distribute_to_others(&self, world: &World, source: &DrawList) -> Result<DrawList> {
        let corner = |vertex| source.corners[vertex as usize];
        let lists = self.collect(source.triangles(), corner, Some(world.rank()), BTreeMap::new());
        let mut all = DrawList::default();
        exchange(world, &lists, &mut all)?;
        Ok(all)
    }

    /// Collects the triangles of each rank, except for a rank that already has them.
    fn collect(
        &self,
        triangles: &[[u32; 3]],
        corner: impl Fn(u32) -> Corner,
        except: Option<usize>,
        mut lists: BTreeMap<usize, PartialDrawList>,
    ) -> BTreeMap<usize, PartialDrawList> {
        for corners in triangles {
            let resolved = corners.map(&corner);
            let bricks = self.lattice.around(&self.cells(resolved.map(|corner| corner.voxel)));
            let mut ranks: Vec<usize> = self.lattice.within(&bricks).map(|brick| self.ranks[brick]).collect();
            ranks.sort_unstable();
            ranks.dedup();
            ranks.retain(|&rank| Some(rank) != except);
            for rank in ranks {
                let PartialDrawList { drawn, near, far } = lists.entry(rank).or_default();
                for (&vertex, corner) in corners.iter().zip(resolved) {
                    let index = match near.get_mut(vertex as usize) {
                        Some(index) => index,
                        None => far.entry(vertex).or_insert(NOT_LISTED),
                    };
                    if *index == NOT_LISTED {
                        *index = drawn.corners.len() as u32;
                        drawn.corners.push(corner);
                    }
                    drawn.order.push(*index);
                }
            }
        }
        lists
    }

    /// Adds to `known` the cells that triangles may cross, for each of this rank's bricks.
    /// Equivalent to `shaders/surface/reached.wgsl`.
    pub(super) fn reached(&self, rank: usize, drawn: &DrawList, known: &mut BTreeMap<usize, CellBox>) {
        for corners in drawn.triangles() {
            let cells = self.cells(corners.map(|index| drawn.corners[index as usize].voxel));
            for brick in self.lattice.within(&self.lattice.around(&cells)) {
                if self.ranks[brick] == rank {
                    let cells = intersection(&cells, &self.lattice.cells(&self.lattice.single(brick)));
                    known.entry(brick).and_modify(|known| *known = bounding_box(known, &cells)).or_insert(cells);
                }
            }
        }
    }
}

/// Sends triangles to their ranks, and appends received triangles to `all`. Collective.
fn exchange(world: &World, lists: &BTreeMap<usize, PartialDrawList>, all: &mut DrawList) -> Result<()> {
    let messages = lists.iter().flat_map(|(&rank, PartialDrawList { drawn, .. })| {
        [(rank, copied(&drawn.corners)), (rank, copied(&drawn.order))]
    });
    let received = world.group().sparse_exchange(messages.collect())?;
    for both in received.chunks_exact(2) {
        let first = all.corners.len() as u32;
        all.corners.extend(values::<Corner>(&both[0].1)?);
        all.order.extend(values::<u32>(&both[1].1)?.iter().map(|index| first + index));
    }
    Ok(())
}

fn intersection((low, high): &CellBox, (other_low, other_high): &CellBox) -> CellBox {
    let low = std::array::from_fn(|axis| low[axis].max(other_low[axis]));
    (low, std::array::from_fn(|axis| high[axis].min(other_high[axis])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::look::Mode;

    fn bricks(origin: [f64; 3]) -> Bricks {
        let lattice = Lattice::new([9; 3], Some(8), Mode::default()).unwrap();
        Bricks { ranks: vec![0; lattice.count()], lattice, grid: Grid::new(origin, [0.5, 1.0, 2.0]) }
    }

    #[test]
    fn voxel_of_position_far_from_origin_keeps_precision() {
        // Neighbouring `f32` numbers are 1/128 apart there.
        let to_voxels = bricks([100_000.003, -100_000.003, 0.1]).to_voxels();
        let found = to_voxels.apply([100_003.5, -99_996.5, 2.1]);
        for (found, wanted) in found.into_iter().zip([6.994, 3.503, 1.0]) {
            assert!((found - wanted).abs() < 1e-5, "{found}, not {wanted}");
        }
    }

    #[test]
    fn positions_more_than_a_sixteenth_of_the_spacing_apart_are_coarse() {
        assert_eq!(bricks([0.0; 3]).coarse_position_distance(), None);
        assert_eq!(bricks([0.0, -500_000.0, 0.0]).coarse_position_distance(), None);
        assert_eq!(bricks([0.0, -600_000.0, 0.0]).coarse_position_distance(), Some(0.0625));
        assert_eq!(bricks([500_000.3, 4_600_000.3, 0.0]).coarse_position_distance(), Some(0.5));
    }
}
