//! Cuts of a grid that are balanced by points.

use std::cmp::Reverse;
use std::ops::Range;

use super::counts::{GridCell, Plane, WantedPlane, planes};
use super::neighbours::neighbours;
use super::own::{each, first_not};
use super::point::{Point, Position};
use crate::World;
use crate::algorithms::vectors::{IntoVector, Vectors};
use crate::error::{CallSite, KdTreeError, Result};
use crate::extents::Index;
use crate::region::Region;

/// The most boxes: every rank has a list of them.
const MOST_BOXES: u64 = 1 << 24;

/// Cuts along different axes are as good as each other within this part of the points.
const AS_GOOD: u128 = 10_000;

/// Boxes of whole cells that tile a grid, with nearly as many points each: for [`Layout::boxes`](crate::Layout::boxes). Made
/// by [`Vectors::balanced_boxes`]; the same on every rank.
#[derive(Debug, Clone, PartialEq)]
pub struct BalancedBoxes {
    shape: Index,
    boxes: Vec<Region>,
    points: Vec<u64>,
}

impl BalancedBoxes {
    /// The boxes; each has cells.
    pub fn boxes(&self) -> &[Region] {
        &self.boxes
    }

    /// How many points lie in each box.
    pub fn points(&self) -> &[u64] {
        &self.points
    }

    /// The most points of a box by their mean: 1 where all have as many, or none.
    pub fn imbalance(&self) -> f64 {
        let (most, all) = (self.points.iter().max().copied().unwrap_or(0), self.points.iter().sum::<u64>());
        if all == 0 { 1.0 } else { most as f64 * self.points.len() as f64 / all as f64 }
    }

    /// For each box the others that touch it, with a face, an edge or a corner, rising; also over the ends of axes that are
    /// periodic. No box is a neighbour of itself. Local; n log n for n boxes.
    ///
    /// # Errors
    /// Not one entry for each axis.
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
    /// Cuts a grid into boxes of whole cells with as many points each as whole cells allow. Collective.
    ///
    /// Coordinates of points count cells: a point lies in cell `⌊x⌋` of each axis, and within the shape. The grid is cut in
    /// two, again and again, in proportion to the boxes on each side, along the axis where the points are divided best; of
    /// axes that are as good but for a 10,000th of the points, where the region is longest. Where there are no points,
    /// boxes have as many cells. The boxes are a function of the points, the shape and their number alone, on any number of
    /// ranks.
    ///
    /// Cost: each rank's host reads its points twice and has the cells of them, 24 bytes each; for each of log₂(boxes)
    /// levels it looks at each a few times, and at most 8 MiB of counts (24 bytes a cut where there are many) are
    /// all-reduced as often. No point moves.
    ///
    /// # Errors
    /// A point outside of the grid (all ranks say which, and the world goes on); a bad shape; no box, more boxes than cells,
    /// or more than 16,777,216; a bad section, a failure of this or of another rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
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
        let _acting = self.world().acting("balanced_boxes");
        let (world, points) = (self.world(), points.into());
        let (given, expected) = (shape.len(), P::DIMENSIONS);
        if given != expected {
            return Err(KdTreeError::Axes { what: "the shape", given, expected }.into());
        }
        let grid = Region::new(&vec![0; shape.len()], shape)?;
        let most = grid.cells().min(MOST_BOXES);
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
            if let Some((what, position)) = first_not(world, &points, inside)? {
                return Ok(Err(KdTreeError::Outside { what, position, shape: grid.end }.into()));
            }
            let mut cells = Vec::new();
            each(&points, |_, position| cells.push(position.map(|x| x.floor() as i64)))?;
            cut_all(world, grid, boxes, points.cells()?, cells).map(Ok)
        })?
    }
}

/// A region that is to be cut.
struct Open {
    region: Region,
    boxes: Range<usize>,
    /// The cells of this rank's points in it.
    own: Range<usize>,
    points: u64,
}

fn cut_all(world: &World, grid: Region, count: usize, points: u64, mut cells: Vec<GridCell>) -> Result<BalancedBoxes> {
    let mut done = BalancedBoxes { shape: grid.end, boxes: vec![grid; count], points: vec![points; count] };
    let mut open = vec![Open { region: grid, boxes: 0..count, own: 0..cells.len(), points }];
    open.retain(|one| one.boxes.len() > 1);
    while !open.is_empty() {
        let wanted: Vec<Vec<WantedPlane>> = open.iter().map(Open::wanted).collect();
        let ends = wanted.iter().scan(0, |end, list| {
            *end += list.len();
            Some(*end - list.len()..*end)
        });
        let ends: Vec<Range<usize>> = ends.collect();
        let wanted: Vec<WantedPlane> = wanted.into_iter().flatten().collect();
        let planes = planes(world, &wanted, &cells)?;
        let mut next = Vec::new();
        for (one, candidates) in open.iter().zip(ends) {
            let best = candidates.min_by_key(|&number| one.merit(&wanted[number], &planes[number]));
            let best = best.expect("a region of several cells can be cut");
            for part in one.cut(&wanted[best], planes[best], &mut cells) {
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

impl Open {
    /// The planes that it may be cut at: both sides must have a cell for each of their boxes.
    fn wanted(&self) -> Vec<WantedPlane> {
        let extents = self.region.extents();
        let (parts, all) = (self.boxes.len(), self.region.cells());
        let wanted = |axis: usize, part: usize, low: u64, high: u64| WantedPlane {
            own: self.own.clone(),
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
                // Where there are no points boxes are to have as many cells.
                let even = ((u128::from(extent) * part as u128 / parts as u128) as u64).clamp(low, high);
                let (low, high) = if self.points > 0 { (low, high) } else { (even, even) };
                list.push(wanted(axis, part, low, high));
            }
        }
        if list.is_empty() {
            // Few cells for many boxes: as many boxes on each side as there is room for.
            let axis = (0..extents.axes()).max_by_key(|&axis| (extents[axis], Reverse(axis))).unwrap_or(0);
            let half = extents[axis] as u64 / 2;
            let below = all / extents[axis] as u64 * half;
            let part = (parts as u64 / 2).clamp((parts as u64).saturating_sub(all - below), below);
            list.push(wanted(axis, part as usize, half, half));
        }
        list
    }

    /// What the best cut has least of.
    fn merit(&self, wanted: &WantedPlane, plane: &Plane) -> (u128, Reverse<i64>, usize) {
        let all = u128::from(self.points.max(1)) * wanted.parts as u128;
        let error = wanted.error(plane.below).saturating_mul(AS_GOOD) / all;
        (error, Reverse(self.region.extents()[wanted.axis]), wanted.axis)
    }

    fn cut(&self, wanted: &WantedPlane, Plane { at, below }: Plane, cells: &mut [GridCell]) -> [Self; 2] {
        let mut middle = self.own.start;
        for place in self.own.clone() {
            if cells[place][wanted.axis] < at {
                cells.swap(place, middle);
                middle += 1;
            }
        }
        let (mut lower, mut upper) = (self.region, self.region);
        (lower.end[wanted.axis], upper.start[wanted.axis]) = (at, at);
        let first = self.boxes.start + wanted.part;
        [
            Self { region: lower, boxes: self.boxes.start..first, own: self.own.start..middle, points: below },
            Self {
                region: upper,
                boxes: first..self.boxes.end,
                own: middle..self.own.end,
                points: self.points - below,
            },
        ]
    }
}
