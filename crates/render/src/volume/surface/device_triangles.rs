//! [`DeviceTriangles`]: what a surface is made of, in arrays on the device.

use zippy::World;
use zippy::array::Growable;

use super::triangles::check_room;
use crate::error::RenderError;

/// A rank's part of a surface, as [`Triangles`](super::Triangles) are, in arrays of this rank's device.
#[derive(Debug, Clone, Copy)]
pub struct DeviceTriangles<'a> {
    /// Positions of the vertices, in the space of the volume's grid, three numbers a vertex.
    pub positions: &'a Growable<f32>,
    /// A direction across the surface at each vertex, of any length, for the light, three numbers a vertex; none, or zeros:
    /// across the triangle.
    pub normals: Option<&'a Growable<f32>>,
    /// A value at each vertex for its colour; none: 0.
    pub values: Option<&'a Growable<f32>>,
    /// Three vertices a triangle, of this rank's own, counted from 0.
    pub triangles: &'a Growable<u32>,
}

impl DeviceTriangles<'_> {
    /// How many vertices there are.
    pub(super) fn vertices(&self) -> u64 {
        self.positions.len() / 3
    }

    /// How many triangles.
    pub(super) fn count(&self) -> u64 {
        self.triangles.len() / 3
    }

    /// What can be told without a look at the cells.
    ///
    /// # Errors
    /// Arrays of other lengths; more of them than one buffer holds.
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
            return wrong(format!("{values} values for {vertices} positions; there must be as many, or none"));
        }
        check_room(world, vertices, triangles)
    }
}
