//! [`TriangleSurface`]: the inside of a triangle surface, by the generalised winding number.
//!
//! A point is inside if the surface winds around it more than half a time (A. Jacobson et al.,
//! *Robust inside-outside segmentation using generalized winding numbers*, ACM Trans. Graph. 32,
//! 2013). A tree holds moments of groups of triangles, which replace groups at more than three
//! times their extent (G. Barill et al., *Fast winding numbers for soups and clouds*, ACM Trans.
//! Graph. 37, 2018): the cost of a point grows with the logarithm of the number of triangles.
//!
//! On the surface itself the winding number is a rounding error. [`CellWindow::offset`] therefore
//! moves the classified points off the cell centres.

use std::cell::Cell;
use std::f64::consts::PI;

use zippy::{Result, World};

use super::measure_coverage::VoxelizedSurface;
use super::open_edges::OpenEdges;
use super::orient_triangles::orient_triangles;
#[cfg(doc)]
use super::placement::CellWindow;
use super::placement::Placement;
use super::solid_angle::{TriangleMoments, exact_solid_angle};
use super::solid_error::SolidError;
use super::solid_mask::SolidMask;
use super::solid_shape::SolidShape;
use super::thicken::thicken;
use super::triangle::{Triangle, TriangleList, area_vector, centroid, dot, subtract};
use super::voxelization_box::VoxelizationBox;
use crate::error::FlowError;

/// Surface of triangles, counter-clockwise as seen from outside. Construction flips triangles with
/// the minority orientation in their connected component, and surfaces that are inside out.
#[derive(Debug, Clone)]
pub struct TriangleSurface {
    triangles: Vec<[[f32; 3]; 3]>,
    nodes: Vec<TreeNode>,
    bounds: [[f64; 3]; 2],
    /// -1 if the surface as a whole is inside out, else 1.
    sign: f64,
    flipped: usize,
}

/// Group of triangles. Nodes are in depth-first order: the first child follows its parent.
#[derive(Debug, Clone)]
struct TreeNode {
    moments: TriangleMoments,
    /// Square of the distance above which the moments replace the triangles.
    far_square: f64,
    first: u32,
    count: u32,
    /// Index of the first node after all descendants.
    next: u32,
    is_leaf: bool,
}

const MAX_LEAF: usize = 8;

/// Least distance at which moments replace triangles, relative to the extent of the group.
const FAR_RATIO: f64 = 3.0;

/// Winding number of points on the surface, except for errors of moments.
const ON_SURFACE: f64 = 0.5;

/// Least distance of a winding number to the nearest integer that shows a hole. Errors of moments
/// are smaller.
const DOUBTFUL: f64 = 0.1;

const MAX_TRIANGLES: usize = 1 << 31;

fn to_f64(corners: &[[f32; 3]; 3]) -> Triangle {
    corners.map(|corner| corner.map(f64::from))
}

fn bounds_of(points: impl Iterator<Item = [f64; 3]>) -> [[f64; 3]; 2] {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for point in points {
        for axis in 0..3 {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
    }
    [low, high]
}

impl TriangleSurface {
    /// Creates a surface from triangles of three corners. Triangles without area add nothing.
    ///
    /// # Errors
    /// No triangles, or more than 2³¹; a coordinate that is not finite.
    pub fn new(triangles: &[[[f32; 3]; 3]]) -> std::result::Result<Self, FlowError> {
        if triangles.is_empty() {
            return Err(SolidError::NoTriangles.into());
        }
        if triangles.len() > MAX_TRIANGLES {
            return Err(SolidError::TooManyTriangles { count: triangles.len() }.into());
        }
        let is_bad = |corners: &[[f32; 3]; 3]| corners.as_flattened().iter().any(|x| !x.is_finite());
        if let Some(index) = triangles.iter().position(is_bad) {
            return Err(SolidError::CornerNotFinite { index, corners: triangles[index] }.into());
        }
        let bounds = bounds_of(triangles.as_flattened().iter().map(|corner| corner.map(f64::from)));
        let centre: [f64; 3] = std::array::from_fn(|axis| 0.5 * (bounds[0][axis] + bounds[1][axis]));
        let mut triangles = triangles.to_vec();
        let flipped = orient_triangles(&mut triangles);
        let cone = |corners: &[[f32; 3]; 3]| {
            let triangle = to_f64(corners);
            dot(area_vector(&triangle), subtract(centroid(&triangle), centre))
        };
        let volume: f64 = triangles.iter().map(cone).sum();
        let (sign, count) = (if volume < 0.0 { -1.0 } else { 1.0 }, triangles.len());
        let mut surface = Self { triangles, nodes: Vec::new(), bounds, sign, flipped };
        surface.add_tree(0, count);
        Ok(surface)
    }

    /// Number of flipped triangles: those with the minority orientation in their connected
    /// component.
    pub fn flipped_triangles(&self) -> usize {
        self.flipped
    }

    /// Number of times that the surface winds around a point; one half on the surface, except for
    /// errors of moments.
    pub fn winding_number(&self, point: [f64; 3]) -> f64 {
        self.winding_off_surface(point).unwrap_or(ON_SURFACE)
    }

    /// True if a point is inside; false on the surface.
    pub fn contains(&self, point: [f64; 3]) -> bool {
        self.winding_off_surface(point).is_some_and(|winding| winding > ON_SURFACE)
    }

    /// Winding number of a point; `None` on a triangle.
    fn winding_off_surface(&self, point: [f64; 3]) -> Option<f64> {
        let (mut sum, mut at) = (0.0, 0);
        while let Some(node) = self.nodes.get(at) {
            let r = subtract(node.moments.centre, point);
            if dot(r, r) > node.far_square {
                sum += node.moments.solid_angle(r);
            } else if node.is_leaf {
                for corners in &self.triangles[node.first as usize..(node.first + node.count) as usize] {
                    sum += exact_solid_angle(&to_f64(corners), point)?;
                }
            } else {
                at += 1;
                continue;
            }
            at = node.next as usize;
        }
        Some(self.sign * sum / (4.0 * PI))
    }

    fn add_tree(&mut self, first: usize, end: usize) {
        let group = &mut self.triangles[first..end];
        let moments = TriangleMoments::new(group.iter().map(to_f64));
        let distance_square = |corner: &[f32; 3]| {
            let r = subtract(corner.map(f64::from), moments.centre);
            dot(r, r)
        };
        let extent_square = group.as_flattened().iter().map(distance_square).fold(0.0, f64::max);
        let (node, is_leaf) = (self.nodes.len(), group.len() <= MAX_LEAF);
        self.nodes.push(TreeNode {
            moments,
            far_square: FAR_RATIO * FAR_RATIO * extent_square,
            first: first as u32,
            count: group.len() as u32,
            next: 0,
            is_leaf,
        });
        if !is_leaf {
            let [low, high] = bounds_of(group.iter().map(|corners| centroid(&to_f64(corners))));
            let extents = subtract(high, low);
            let axis = (0..3).max_by(|&a, &b| extents[a].total_cmp(&extents[b])).unwrap_or(0);
            let half = group.len() / 2;
            let key = |corners: &[[f32; 3]; 3]| centroid(&to_f64(corners))[axis];
            group.select_nth_unstable_by(half, |a, b| key(a).total_cmp(&key(b)));
            self.add_tree(first, first + half);
            self.add_tree(first + half, end);
        }
        self.nodes[node].next = self.nodes.len() as u32;
    }
}

impl SolidShape for TriangleSurface {
    fn bounds(&self) -> [[f64; 3]; 2] {
        self.bounds
    }

    fn voxelize(&self, world: &World, placement: &Placement, voxelization_box: &VoxelizationBox) -> Result<SolidMask> {
        let largest = self.bounds.as_flattened().iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let window = placement.window(&self.bounds, voxelization_box, largest)?;
        let doubtful_cells = Cell::new(0_u64);
        let is_inside = |cell| {
            let winding = self.winding_number(placement.shape_point(&self.bounds, &window, cell));
            let is_doubtful = winding != ON_SURFACE && (winding - winding.round()).abs() > DOUBTFUL;
            doubtful_cells.set(doubtful_cells.get() + u64::from(is_doubtful));
            winding > ON_SURFACE
        };
        let mut solid = SolidMask::from_fn(world, window.start, window.extents, is_inside)?;
        let mut doubtful_cells = [doubtful_cells.get()];
        world.group().all_reduce(&mut doubtful_cells, |sum, other| *sum += other)?;
        let count = self.triangles.len();
        let in_cells = |index: usize| {
            to_f64(&self.triangles[index]).map(|corner| placement.cell_point(&self.bounds, &window, corner))
        };
        let triangles = TriangleList { count, get: in_cells };
        if voxelization_box.thicken {
            solid = thicken(world, solid, &triangles, window.tolerance())?;
        }
        if solid.solid_cells() == 0 {
            return Err(SolidError::NoCellInside { triangles: count }.into());
        }
        let coverage =
            VoxelizedSurface { voxelization_box, solid: &solid, triangles: &triangles }.measure_coverage(world)?;
        let mut warnings = voxelization_box.cut_warnings(placement.bounds_in_cells(&self.bounds));
        if doubtful_cells[0] > 0 {
            let open_edges = OpenEdges::find(triangles.iter());
            warnings.extend(open_edges.warning(solid.solid_cells(), doubtful_cells[0]));
        }
        if self.flipped > 0 {
            warnings.push(format!(
                "{} of {count} triangles of the surface faced another way than their neighbours, and have been flipped",
                self.flipped
            ));
        }
        Ok(solid.placed_in(voxelization_box, warnings, Some(coverage)))
    }
}
