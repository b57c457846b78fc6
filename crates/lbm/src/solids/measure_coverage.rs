//! [`VoxelizedSurface`]: measures the coverage of a surface by its solid cells.

use std::collections::{HashMap, HashSet};

use zippy::{Result, World};

use super::rank_share::rank_share;
use super::solid_mask::SolidMask;
use super::surface_coverage::SurfaceCoverage;
use super::triangle::{CornerBits, Triangle, TriangleList, area_vector, centroid, corner_bits, edges, length};
use super::voxelization_box::VoxelizationBox;

/// Longest edge of the pieces of split triangles, in cells.
const MAX_EDGE: f64 = 0.5;

const AREA_UNIT: f64 = 1.0 / (1 << 24) as f64;

/// Sums over a surface: projected areas along x, y and z, area, and uncovered area, in
/// [`AREA_UNIT`]s. Integers give the same sums for every number of ranks.
type AreaSums = [i64; 5];

/// Surface with triangles in cells, and its solid cells in a box.
pub(super) struct VoxelizedSurface<'a, F: Fn(usize) -> Triangle> {
    pub voxelization_box: &'a VoxelizationBox,
    pub solid: &'a SolidMask,
    pub triangles: &'a TriangleList<F>,
}

impl<F: Fn(usize) -> Triangle> VoxelizedSurface<'_, F> {
    /// Compares the surface with its solid cells. Collective.
    pub(super) fn measure_coverage(&self, world: &World) -> Result<SurfaceCoverage> {
        let count = self.triangles.count;
        let share = rank_share(world, count as i64);
        let share = share.start as usize..share.end as usize;
        let mut coverage = self.sum_areas(world, share.clone())?;
        if coverage.has_losses() {
            // Duplicate triangles would count twice. Every rank knows all triangles.
            let mut known = HashSet::new();
            let is_first: Vec<bool> =
                self.triangles.iter().map(|triangle| known.insert(triangle_key(triangle))).collect();
            if known.len() < count {
                coverage = self.sum_areas(world, share.filter(|&index| is_first[index]))?;
            }
            let distinct = (0..count).filter(|&index| is_first[index]).map(&self.triangles.get);
            (coverage.flipped_edges, coverage.edges) = count_flipped_edges(distinct);
        }
        Ok(coverage)
    }

    fn sum_areas(&self, world: &World, triangles: impl Iterator<Item = usize>) -> Result<SurfaceCoverage> {
        let mut sums: [AreaSums; 1] = [[0; 5]];
        triangles.for_each(|index| self.add_triangle(&mut sums[0], &(self.triangles.get)(index)));
        world.group().all_reduce(&mut sums, |sums, other| sums.iter_mut().zip(other).for_each(|(a, b)| *a += b))?;
        let [x, y, z, total, uncovered] = sums[0].map(|sum| sum as f64 * AREA_UNIT);
        Ok(SurfaceCoverage {
            surface: [x, y, z].map(|area| 0.5 * area),
            solid: self.solid.projected_areas(),
            uncovered: if total > 0.0 { uncovered / total } else { 0.0 },
            flipped_edges: 0,
            edges: 0,
        })
    }

    /// Adds the pieces of a triangle. Pieces outside of the box are skipped before they are split,
    /// so the work depends only on the cells of the box.
    fn add_triangle(&self, sums: &mut AreaSums, triangle: &Triangle) {
        // A stack instead of recursion: thread stacks are small.
        let mut pieces = vec![*triangle];
        while let Some(piece) = pieces.pop() {
            if !self.may_touch_box(&piece) {
                continue;
            }
            let square = |[a, b]: [[f64; 3]; 2]| (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>();
            let squares = edges(piece).map(square);
            let longest = (0..3).max_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap_or(0);
            if squares[longest] <= MAX_EDGE * MAX_EDGE {
                self.add_piece(sums, &piece);
                continue;
            }
            let [a, b, c] = [0, 1, 2].map(|k| piece[(longest + k) % 3]);
            let half = std::array::from_fn(|axis| 0.5 * a[axis] + 0.5 * b[axis]);
            // Neighbouring floats have no number between them; these are further apart than cells.
            if half != a && half != b {
                pieces.extend([[half, b, c], [a, half, c]]);
            }
        }
    }

    fn may_touch_box(&self, piece: &Triangle) -> bool {
        let periods = self.voxelization_box.periods();
        (0..3).all(|axis| {
            let [a, b, c] = [0, 1, 2].map(|k| piece[k][axis]);
            let end = self.voxelization_box.cells[axis] as f64 - 0.5;
            let is_near = a.min(b).min(c) < end && a.max(b).max(c) >= -0.5;
            [a, b, c].iter().all(|x| x.is_finite()) && (periods[axis].is_some() || is_near)
        })
    }

    fn add_piece(&self, sums: &mut AreaSums, piece: &Triangle) {
        let (normal, point) = (area_vector(piece), centroid(piece));
        let periods = self.voxelization_box.periods();
        let is_inside = |axis: usize| {
            let end = self.voxelization_box.cells[axis] as f64 - 0.5;
            periods[axis].is_some() || (-0.5..end).contains(&point[axis])
        };
        if !(0..3).all(is_inside) {
            return;
        }
        let cell: [i64; 3] = point.map(|x| (x + 0.5).floor() as i64);
        let mut neighbourhood = (0..27).map(|k| [cell[0] + k % 3 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k / 9 - 1]);
        let is_solid = |cell: [i64; 3]| self.solid.contains_unwrapped(cell);
        if neighbourhood.clone().all(is_solid) {
            return;
        }
        let area = length(normal);
        for (sum, normal) in sums.iter_mut().zip(normal) {
            *sum += in_area_units(normal.abs());
        }
        sums[3] += in_area_units(area);
        sums[4] += if neighbourhood.any(is_solid) { 0 } else { in_area_units(area) };
    }
}

fn in_area_units(area: f64) -> i64 {
    (area / AREA_UNIT).round() as i64
}

/// Corners of a triangle in a canonical order: equal for duplicates.
fn triangle_key(triangle: Triangle) -> [CornerBits; 3] {
    let mut corners = triangle.map(corner_bits);
    corners.sort_unstable();
    corners
}

/// Number of edges that two triangles pass in the same direction, and number of edges.
fn count_flipped_edges(triangles: impl Iterator<Item = Triangle>) -> (u64, u64) {
    // For each edge, from its lesser corner: numbers of triangles that pass it forwards and
    // backwards.
    let mut passes: HashMap<[CornerBits; 2], [u32; 2]> = HashMap::new();
    for triangle in triangles {
        for [a, b] in edges(triangle.map(corner_bits)).into_iter().filter(|[a, b]| a != b) {
            let direction = usize::from(a > b);
            passes.entry([a.min(b), a.max(b)]).or_default()[direction] += 1;
        }
    }
    let flipped = passes.values().filter(|&&[forwards, backwards]| forwards.abs_diff(backwards) > 1).count();
    (flipped as u64, passes.len() as u64)
}
