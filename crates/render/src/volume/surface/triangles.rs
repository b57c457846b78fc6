//! [`Triangles`]: triangles of a surface in host memory.

use bytemuck::{Pod, Zeroable};
use zippy::World;

use super::distribute::ToVoxels;
use crate::error::RenderError;

/// A rank's part of a surface.
#[derive(Debug, Clone, Copy, Default)]
pub struct Triangles<'a> {
    /// Positions of the vertices, in the space of the volume's grid.
    pub positions: &'a [[f32; 3]],
    /// Normal of the surface at each vertex, of any length. Without normals, or for zeros, shading
    /// uses the normal of the triangle.
    pub normals: &'a [[f32; 3]],
    /// Value per vertex that determines its colour; without values: 0.
    pub values: &'a [f32],
    /// Vertex indices, three per triangle.
    pub triangles: &'a [[u32; 3]],
}

/// Vertex in the format of the rasteriser.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(in crate::volume) struct Corner {
    /// Position in voxels.
    pub voxel: [f32; 3],
    pub normal: [f32; 3],
    pub value: f32,
}

pub(super) const CORNER_WORDS: usize = size_of::<Corner>() / 4;

impl Triangles<'_> {
    /// Checks the lists.
    ///
    /// # Errors
    /// Inconsistent lengths, a vertex index out of range, a position or a normal that is not
    /// finite.
    pub(super) fn check(&self) -> Result<(), RenderError> {
        let wrong = |message: String| Err(RenderError::Surface(message));
        let vertices = self.positions.len();
        for (what, count) in [("normals", self.normals.len()), ("values", self.values.len())] {
            if count != 0 && count != vertices {
                return wrong(format!(
                    "{count} {what} for {vertices} positions; there must be one per position, or none"
                ));
            }
        }
        let is_finite = |position: &[f32; 3]| position.iter().all(|part| part.is_finite());
        if let Some(number) = self.positions.iter().position(|position| !is_finite(position)) {
            return Err(wrong_position(number, self.positions[number]));
        }
        if let Some(number) = self.normals.iter().position(|normal| !is_finite(normal)) {
            return Err(wrong_normal(number, self.normals[number]));
        }
        let missing = |corners: &[u32; 3]| corners.iter().any(|&corner| corner as usize >= vertices);
        if let Some(number) = self.triangles.iter().position(missing) {
            return Err(wrong_triangle(number, self.triangles[number], vertices as u64));
        }
        Ok(())
    }

    /// Corner of a vertex. Equivalent to `shaders/surface/corner.wgsl`.
    pub(super) fn corner(&self, vertex: usize, to_voxels: &ToVoxels) -> Corner {
        Corner {
            voxel: to_voxels.apply(self.positions[vertex]),
            normal: self.normals.get(vertex).copied().unwrap_or_default(),
            value: self.values.get(vertex).copied().unwrap_or_default(),
        }
    }
}

/// Checks that a buffer holds this number of vertices and triangles.
pub(super) fn check_capacity(world: &World, vertices: u64, triangles: u64) -> Result<(), RenderError> {
    let (bytes, most) = ((4 * CORNER_WORDS as u64 * vertices).max(12 * triangles), world.limits().buffer_bytes);
    if bytes > most {
        Err(RenderError::Surface(format!(
            "{triangles} triangles with {vertices} vertices on rank {} need {bytes} bytes in one buffer, which has at most \
             {most} here; use more ranks, or fewer triangles",
            world.rank()
        )))
    } else {
        Ok(())
    }
}

pub(super) fn wrong_position(vertex: usize, position: [f32; 3]) -> RenderError {
    RenderError::Surface(format!("vertex {vertex} is at {position:?}; positions must be finite"))
}

pub(super) fn wrong_normal(vertex: usize, normal: [f32; 3]) -> RenderError {
    RenderError::Surface(format!("vertex {vertex} has the normal {normal:?}; normals must be finite"))
}

pub(super) fn wrong_triangle(triangle: usize, corners: [u32; 3], vertices: u64) -> RenderError {
    RenderError::Surface(format!("triangle {triangle} has the vertices {corners:?}, and there are {vertices}"))
}
