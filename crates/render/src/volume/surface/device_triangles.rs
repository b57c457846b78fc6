//! [`DeviceTriangles`]: triangles of a surface in arrays on the device.

use zippy::World;
use zippy::array::Growable;

use super::triangles::check_capacity;
use crate::error::RenderError;

/// A rank's part of a surface, like [`Triangles`](super::Triangles), in arrays of the rank's
/// device.
#[derive(Debug, Clone, Copy)]
pub struct DeviceTriangles<'a> {
    /// Positions of the vertices in the space of the volume's grid, three numbers per vertex.
    pub positions: &'a Growable<f32>,
    /// Normal of the surface at each vertex, of any length, three numbers per vertex. Without
    /// normals, or for zeros, shading uses the normal of the triangle.
    pub normals: Option<&'a Growable<f32>>,
    /// Value per vertex that determines its colour; without values: 0.
    pub values: Option<&'a Growable<f32>>,
    /// Vertex indices, three per triangle, counted from 0 within this rank's vertices.
    pub triangles: &'a Growable<u32>,
}

impl DeviceTriangles<'_> {
    pub(super) fn vertices(&self) -> u64 {
        self.positions.len() / 3
    }

    pub(super) fn count(&self) -> u64 {
        self.triangles.len() / 3
    }

    /// Checks the sizes of the arrays; reads no cells.
    pub(super) fn check(&self, world: &World) -> Result<(), RenderError> {
        let wrong = |message: String| Err(RenderError::Surface(message));
        let (vertices, triangles) = (self.vertices(), self.count());
        if !self.positions.len().is_multiple_of(3) {
            return wrong(format!("{} numbers of positions; each position has three", self.positions.len()));
        }
        if !self.triangles.len().is_multiple_of(3) {
            return wrong(format!("{} vertices of triangles; each triangle has three", self.triangles.len()));
        }
        let normals = self.normals.map_or(3 * vertices, Growable::len);
        if normals != 3 * vertices {
            return wrong(format!("{normals} numbers of normals for {vertices} positions; each normal has three"));
        }
        let values = self.values.map_or(vertices, Growable::len);
        if values != vertices {
            return wrong(format!("{values} values for {vertices} positions; there must be one per position, or none"));
        }
        check_capacity(world, vertices, triangles)
    }
}
