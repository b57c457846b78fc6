//! The inside of a surface, by the generalised winding number.
//!
//! On the surface itself the winding number is a rounding error, so such a point counts as the
//! point next to it, towards larger coordinates. A box of n cells has n layers wherever it stands,
//! and shapes that share a face share no cell.

use std::cell::Cell;
use std::f64::consts::PI;

use zippy::{Result, World};

use super::angle::{Moments, area, dot, exact, less, middle};
use super::bits::Solid;
use super::coverage::Coverage;
use super::holes::Holes;
use super::orient::orient;
use super::room::{Room, cut_off};
use super::shape::{Placement, Shape};
use super::thicken::thicken;
use crate::error::FlowError;

/// A surface of triangles, which go round counter-clockwise as seen from outside.
///
/// A point is inside where the surface winds around it more than half a time (A. Jacobson et al.,
/// *Robust inside-outside segmentation using generalized winding numbers*, ACM Trans. Graph. 32,
/// 2013). So small holes, triangles that are there twice, some that are turned, and parts that
/// overlap do no harm. Triangles that face another way than most of those that they are connected
/// with are turned. Triangles that are farther away than three times their extent count by their
/// moments (G. Barill et al., *Fast winding numbers for soups and clouds*, ACM Trans. Graph. 37,
/// 2018), in a tree: a point costs as the logarithm of their number.
#[derive(Debug, Clone)]
pub struct Surface {
    triangles: Vec<[[f32; 3]; 3]>,
    nodes: Vec<Node>,
    bounds: [[f64; 3]; 2],
    /// -1 where the surface as a whole is inside out.
    sign: f64,
    /// Triangles that faced another way than most of their neighbours.
    turned: usize,
}

/// Triangles that are together.
#[derive(Debug, Clone)]
struct Node {
    moments: Moments,
    /// The square of the distance from which their moments will do.
    far: f64,
    first: u32,
    count: u32,
    /// The node behind all that are below this one.
    next: u32,
    leaf: bool,
}

/// Triangles of a leaf, at most.
const LEAF: usize = 8;

/// Times their extent.
const FAR: f64 = 3.0;

/// Seen from a point on the surface, one half of all directions are inside, but for what moments are wrong by.
const HALF: f64 = 0.5;

/// Distance of winding numbers to the nearest integer from which on a surface is open there.
/// Moments are wrong by less.
const DOUBTFUL: f64 = 0.1;

impl Surface {
    /// From three corners for each triangle. Those without area add nothing. A surface that is inside out as a whole is turned.
    ///
    /// # Errors
    /// No triangles, or more than 2³¹; a coordinate that is no finite number.
    pub fn new(triangles: &[[[f32; 3]; 3]]) -> std::result::Result<Self, FlowError> {
        let wrong = |wrong: String| Err(FlowError::Solid(wrong));
        if triangles.is_empty() {
            return wrong("the surface has no triangles".into());
        }
        if triangles.len() > 1 << 31 {
            return wrong(format!("the surface has {} triangles; at most 2^31 are counted", triangles.len()));
        }
        if let Some(bad) = triangles.iter().position(|corners| corners.as_flattened().iter().any(|x| !x.is_finite())) {
            return wrong(format!(
                "triangle {bad} of the surface has the corners {:?}, not all finite",
                triangles[bad]
            ));
        }
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for corner in triangles.as_flattened() {
            for axis in 0..3 {
                low[axis] = low[axis].min(corner[axis].into());
                high[axis] = high[axis].max(corner[axis].into());
            }
        }
        let centre: [f64; 3] = std::array::from_fn(|axis| 0.5 * (low[axis] + high[axis]));
        let mut triangles = triangles.to_vec();
        let turned = orient(&mut triangles);
        let volume: f64 = triangles
            .iter()
            .map(|corners| {
                let corners = corners.map(|corner| corner.map(f64::from));
                dot(area(&corners), less(middle(&corners), centre))
            })
            .sum();
        let (sign, count) = (if volume < 0.0 { -1.0 } else { 1.0 }, triangles.len());
        let mut surface = Self { triangles, nodes: Vec::new(), bounds: [low, high], sign, turned };
        surface.grow(0, count);
        Ok(surface)
    }

    /// How many triangles faced another way than most of those that they are connected with, and
    /// have been turned.
    pub fn turned(&self) -> usize {
        self.turned
    }

    /// How many times the surface winds around a point; one half on it, but for what moments are wrong by.
    pub fn winding(&self, point: [f64; 3]) -> f64 {
        self.look(point).unwrap_or(HALF)
    }

    /// Whether a point is inside. On the surface it is not.
    pub fn contains(&self, point: [f64; 3]) -> bool {
        self.look(point).is_some_and(|winding| winding > HALF)
    }

    /// Nothing on the surface.
    fn look(&self, point: [f64; 3]) -> Option<f64> {
        let (mut sum, mut at) = (0.0, 0);
        while let Some(node) = self.nodes.get(at) {
            let r = less(node.moments.centre, point);
            if dot(r, r) > node.far {
                sum += node.moments.angle(r);
            } else if node.leaf {
                for corners in &self.triangles[node.first as usize..(node.first + node.count) as usize] {
                    sum += exact(&corners.map(|corner| corner.map(f64::from)), point)?;
                }
            } else {
                at += 1;
                continue;
            }
            at = node.next as usize;
        }
        Some(self.sign * sum / (4.0 * PI))
    }

    /// The tree of these triangles, which are put in its order: a node, and then those below it.
    fn grow(&mut self, first: usize, end: usize) {
        let corners = |corners: &[[f32; 3]; 3]| corners.map(|corner| corner.map(f64::from));
        let own = &mut self.triangles[first..end];
        let moments = Moments::of(own.iter().map(corners));
        let apart = |corner: &[f32; 3]| {
            let r = less(corner.map(f64::from), moments.centre);
            dot(r, r)
        };
        let extent = own.as_flattened().iter().map(apart).fold(0.0, f64::max);
        let (node, leaf) = (self.nodes.len(), own.len() <= LEAF);
        let (start, count) = (first as u32, own.len() as u32);
        self.nodes.push(Node { moments, far: FAR * FAR * extent, first: start, count, next: 0, leaf });
        if !leaf {
            let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
            for at in own.iter().map(|one| middle(&corners(one))) {
                for axis in 0..3 {
                    low[axis] = low[axis].min(at[axis]);
                    high[axis] = high[axis].max(at[axis]);
                }
            }
            let extents = less(high, low);
            let axis = (0..3).max_by(|&a, &b| extents[a].total_cmp(&extents[b])).unwrap_or(0);
            let half = own.len() / 2;
            let key = |one: &[[f32; 3]; 3]| middle(&corners(one))[axis];
            own.select_nth_unstable_by(half, |one, other| key(one).total_cmp(&key(other)));
            self.grow(first, first + half);
            self.grow(first + half, end);
        }
        self.nodes[node].next = self.nodes.len() as u32;
    }
}

impl Shape for Surface {
    fn bounds(&self) -> [[f64; 3]; 2] {
        self.bounds
    }

    fn solid(&self, world: &World, placement: &Placement, room: &Room) -> Result<Solid> {
        let largest = self.bounds.as_flattened().iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let window = placement.window(&self.bounds, room, largest)?;
        let doubtful = Cell::new(0_u64);
        let is_inside = |place| {
            let winding = self.winding(placement.at(&self.bounds, &window, place));
            let is_doubtful = winding != HALF && (winding - winding.round()).abs() > DOUBTFUL;
            doubtful.set(doubtful.get() + u64::from(is_doubtful));
            winding > HALF
        };
        let mut solid = Solid::of(world, window.start, window.count, is_inside)?;
        let mut doubtful = [doubtful.get()];
        world.group().all_reduce(&mut doubtful, |sum, other| *sum += other)?;
        let count = self.triangles.len();
        let triangle = |number: usize| {
            self.triangles[number].map(|corner| placement.in_cells(&self.bounds, &window, corner.map(f64::from)))
        };
        if room.thicken {
            solid = thicken(world, solid, count, triangle, window.tolerance())?;
        }
        if solid.cells() == 0 {
            return Err(FlowError::Solid(format!(
                "the surface of {count} triangles has no cell inside; it must be closed but for small holes, its triangles must \
                 face the same way, and its parts must be thicker than a cell: smaller cells help, or to thicken it"
            ))
            .into());
        }
        let coverage = Coverage::of(world, room, &solid, count, triangle)?;
        let mut warnings = cut_off(room, placement.reach(&self.bounds));
        if doubtful[0] > 0 {
            warnings.extend(Holes::of((0..count).map(triangle)).warning(solid.cells(), doubtful[0]));
        }
        if self.turned > 0 {
            warnings.push(format!(
                "{} of {count} triangles of the surface faced another way than their neighbours, and have been turned",
                self.turned
            ));
        }
        Ok(solid.placed_in(room, warnings, Some(coverage)))
    }
}
