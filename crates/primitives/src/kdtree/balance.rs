//! Cuts of a grid with balanced numbers of points.

use std::cmp::Reverse;
use std::ops::Range;

use zippy::World;
use zippy::collective::CollectiveWorld;
use zippy::error::{CallSite, KdTreeError, Result};
use zippy::extents::Index;
use zippy::region::Region;

use super::neighbours::neighbours;
use super::plane_search::{GridCell, Plane, WantedPlane, planes};
use super::point::{Point, Position};
use super::read_points::{first_violation, for_each_point};
use crate::vectors::{IntoVector, Vectors};

/// Maximum number of balanced boxes: every rank stores a list of them.
const MAX_BOXES: u64 = 1 << 24;

/// Reciprocal of the fraction of the points by which the balance of cuts along different axes must
/// differ; smaller differences count as equal.
const BALANCE_TOLERANCE_DIVISOR: u128 = 10_000;

/// Boxes of whole cells that tile a grid, with nearly equal numbers of points, for
/// [`Layout::boxes`](zippy::Layout::boxes). Created by [`Vectors::balanced_boxes`]; the same on
/// every rank.
#[derive(Debug, Clone, PartialEq)]
pub struct BalancedBoxes {
    shape: Index,
    boxes: Vec<Region>,
    points: Vec<u64>,
}

impl BalancedBoxes {
    /// Returns the boxes; none is empty.
    pub fn boxes(&self) -> &[Region] {
        &self.boxes
    }

    /// Returns the number of points in each box.
    pub fn points(&self) -> &[u64] {
        &self.points
    }

    /// Returns the maximum number of points in a box divided by the mean: 1 if all boxes have the
    /// same number, or if there are no points.
    pub fn imbalance(&self) -> f64 {
        let (most, all) = (self.points.iter().max().copied().unwrap_or(0), self.points.iter().sum::<u64>());
        if all == 0 { 1.0 } else { most as f64 * self.points.len() as f64 / all as f64 }
    }

    /// Returns, for each box, the ascending indices of the other boxes that share a face, an edge
    /// or a corner with the box, also across the ends of periodic axes. A box is never its own
    /// neighbour. Local; O(n log n) for n boxes.
    ///
    /// # Errors
    /// `periodic` does not have one entry per axis.
    #[track_caller]
    pub fn neighbours(&self, periodic: &[bool]) -> Result<Vec<Vec<usize>>> {
        let _call = CallSite::enter();
        let (given, expected) = (periodic.len(), self.shape.axes());
        if given != expected {
            return Err(KdTreeError::Axes { what: "the list of periodic axes", given, expected }.into());
        }
        Ok(neighbours(&self.boxes, self.shape, periodic))
    }
}

impl Vectors<'_> {
    /// Cuts a grid into boxes of whole cells with numbers of points as equal as possible.
    /// Collective.
    ///
    /// Coordinates count cells: a point lies in cell `⌊x⌋` of each axis, which must be within the
    /// shape. The grid is halved recursively, in proportion to the boxes on each side, along the
    /// axis with the best balance; if several axes are equal up to a 10,000th of the points, along
    /// the longest one. Regions without points are divided by cells. The boxes depend only on the
    /// points, the shape and the number of boxes, not on the number of ranks.
    ///
    /// Cost: each rank's host reads its points twice and stores their cells, 24 bytes each. For
    /// each of the log₂(boxes) levels, it visits each cell a few times, with the same number of
    /// all-reduces of at most 8 MiB of counts (24 bytes per cut if there are many cuts). No point
    /// moves.
    ///
    /// # Errors
    /// * A point outside of the grid: all ranks report it, and the world remains usable.
    /// * An invalid shape.
    /// * No box, more boxes than cells, or more than 16,777,216 boxes.
    /// * An invalid section, a failure of any rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// // All points are in one corner of 64 x 64 cells.
    /// let points = world.array::<[f32; 2], 1>("points", &Layout::new([900]).split([Split::Auto]))?;
    /// points.fill_with(|[i]| [(i % 30) as f32 / 3.0, (i / 30) as f32 / 3.0])?;
    /// let cuts = world.vectors().balanced_boxes(&points, &[64, 64], 4)?;
    /// assert_eq!(cuts.points(), [225; 4]);
    ///
    /// let layout = Layout::new([64, 64]).boxes(cuts.boxes().to_vec()).ghost([1, 1]);
    /// let field = world.array::<f32, 2>("field", &layout)?;
    /// assert_eq!(cuts.neighbours(&[false, false])?, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]);
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(2), program).unwrap();
    /// ```
    #[track_caller]
    pub fn balanced_boxes<P: Point>(
        &self,
        points: impl IntoVector<P>,
        shape: &[i64],
        boxes: usize,
    ) -> Result<BalancedBoxes> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("balanced_boxes");
        let (world, points) = (self.world(), points.into());
        let (given, expected) = (shape.len(), P::DIMENSIONS);
        if given != expected {
            return Err(KdTreeError::Axes { what: "the shape", given, expected }.into());
        }
        let grid = Region::new(&vec![0; shape.len()], shape)?;
        let most = grid.cells().min(MAX_BOXES);
        if boxes == 0 || boxes as u64 > most {
            return Err(KdTreeError::Boxes { shape: grid.end, given: boxes, most }.into());
        }
        self.collective("balanced_boxes", vec![points.named()?], (shape, boxes), || {
            let inside = |position: &Position| {
                (0..expected).all(|axis| {
                    let at = position[axis];
                    at >= 0.0 && at.is_finite() && (at.floor() as i64) < shape[axis]
                })
            };
            if let Some((what, position)) = first_violation(world, &points, inside)? {
                return Ok(Err(KdTreeError::Outside { what, position, shape: grid.end }.into()));
            }
            let mut cells = Vec::new();
            for_each_point(&points, |_, position| cells.push(position.map(|x| x.floor() as i64)))?;
            cut_into_boxes(world, grid, boxes, points.cells()?, cells).map(Ok)
        })?
    }
}

/// Region of a grid that is still to be cut into several boxes.
struct RegionToCut {
    region: Region,
    boxes: Range<usize>,
    /// Range of this rank's points in the region.
    local_range: Range<usize>,
    points: u64,
}

fn cut_into_boxes(
    world: &World,
    grid: Region,
    count: usize,
    points: u64,
    mut cells: Vec<GridCell>,
) -> Result<BalancedBoxes> {
    let mut done = BalancedBoxes { shape: grid.end, boxes: vec![grid; count], points: vec![points; count] };
    let mut open = vec![RegionToCut { region: grid, boxes: 0..count, local_range: 0..cells.len(), points }];
    open.retain(|search| search.boxes.len() > 1);
    while !open.is_empty() {
        let wanted: Vec<Vec<WantedPlane>> = open.iter().map(RegionToCut::wanted).collect();
        let ends = wanted.iter().scan(0, |end, list| {
            *end += list.len();
            Some(*end - list.len()..*end)
        });
        let ends: Vec<Range<usize>> = ends.collect();
        let wanted: Vec<WantedPlane> = wanted.into_iter().flatten().collect();
        let planes = planes(world, &wanted, &cells)?;
        let mut next = Vec::new();
        for (search, candidates) in open.iter().zip(ends) {
            let best = candidates.min_by_key(|&number| search.merit(&wanted[number], &planes[number]));
            let best = best.expect("a region of several cells can be cut");
            for part in search.cut(&wanted[best], planes[best], &mut cells) {
                if part.boxes.len() > 1 {
                    next.push(part);
                } else {
                    (done.boxes[part.boxes.start], done.points[part.boxes.start]) = (part.region, part.points);
                }
            }
        }
        open = next;
    }
    Ok(done)
}

impl RegionToCut {
    /// Returns the planes at which the region may be cut: both sides must have at least one cell
    /// per box.
    fn wanted(&self) -> Vec<WantedPlane> {
        let extents = self.region.extents();
        let (parts, all) = (self.boxes.len(), self.region.cells());
        let wanted = |axis: usize, part: usize, low: u64, high: u64| WantedPlane {
            local_range: self.local_range.clone(),
            axis,
            low: self.region.start[axis] + low as i64,
            high: self.region.start[axis] + high as i64,
            points: self.points,
            part,
            parts,
        };
        let mut list = Vec::new();
        for axis in 0..extents.axes() {
            let (extent, layer, part) = (extents[axis] as u64, all / extents[axis] as u64, parts / 2);
            let (below, above) = ((part as u64).div_ceil(layer), ((parts - part) as u64).div_ceil(layer));
            if below + above <= extent {
                let (low, high) = (below, extent - above);
                // Regions without points are divided evenly by cells.
                let even = ((u128::from(extent) * part as u128 / parts as u128) as u64).clamp(low, high);
                let (low, high) = if self.points > 0 { (low, high) } else { (even, even) };
                list.push(wanted(axis, part, low, high));
            }
        }
        if list.is_empty() {
            // Few cells for many boxes: each side gets at most as many boxes as cells.
            let axis = (0..extents.axes()).max_by_key(|&axis| (extents[axis], Reverse(axis))).unwrap_or(0);
            let half = extents[axis] as u64 / 2;
            let below = all / extents[axis] as u64 * half;
            let part = (parts as u64 / 2).clamp((parts as u64).saturating_sub(all - below), below);
            list.push(wanted(axis, part as usize, half, half));
        }
        list
    }

    /// Returns the sort key of a cut; the best cut has the smallest key.
    fn merit(&self, wanted: &WantedPlane, plane: &Plane) -> (u128, Reverse<i64>, usize) {
        let all = u128::from(self.points.max(1)) * wanted.parts as u128;
        let error = wanted.error(plane.below).saturating_mul(BALANCE_TOLERANCE_DIVISOR) / all;
        (error, Reverse(self.region.extents()[wanted.axis]), wanted.axis)
    }

    fn cut(&self, wanted: &WantedPlane, Plane { at, below }: Plane, cells: &mut [GridCell]) -> [Self; 2] {
        let mut middle = self.local_range.start;
        for index in self.local_range.clone() {
            if cells[index][wanted.axis] < at {
                cells.swap(index, middle);
                middle += 1;
            }
        }
        let (mut lower, mut upper) = (self.region, self.region);
        (lower.end[wanted.axis], upper.start[wanted.axis]) = (at, at);
        let first = self.boxes.start + wanted.part;
        [
            Self {
                region: lower,
                boxes: self.boxes.start..first,
                local_range: self.local_range.start..middle,
                points: below,
            },
            Self {
                region: upper,
                boxes: first..self.boxes.end,
                local_range: middle..self.local_range.end,
                points: self.points - below,
            },
        ]
    }
}
