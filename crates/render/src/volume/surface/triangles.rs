//! [`Triangles`]: what a surface is made of.

use bytemuck::{Pod, Zeroable};

use crate::error::RenderError;

/// A rank's part of a surface.
#[derive(Debug, Clone, Copy, Default)]
pub struct Triangles<'a> {
    /// Where the vertices stand, in the volume's coordinates: voxel index times spacing.
    pub positions: &'a [[f32; 3]],
    /// A direction across the surface at each vertex, of any length, for the light; none, or zeros: across the triangle.
    pub normals: &'a [[f32; 3]],
    /// A value at each vertex for its colour; none: 0.
    pub values: &'a [f32],
    /// Three vertices each.
    pub triangles: &'a [[u32; 3]],
}

/// A vertex as it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(in crate::volume) struct Corner {
    /// In voxels.
    pub place: [f32; 3],
    pub normal: [f32; 3],
    pub value: f32,
}

impl Triangles<'_> {
    /// # Errors
    /// Lists of other lengths, a vertex that is not there, a position or a normal that is not finite.
    pub(super) fn check(&self) -> Result<(), RenderError> {
        let wrong = |message: String| Err(RenderError::Surface(message));
        let vertices = self.positions.len();
        for (what, count) in [("normals", self.normals.len()), ("values", self.values.len())] {
            if count != 0 && count != vertices {
                return wrong(format!("{count} {what} for {vertices} positions; there must be as many, or none"));
            }
        }
        let is_finite = |position: &[f32; 3]| position.iter().all(|part| part.is_finite());
        if let Some(number) = self.positions.iter().position(|position| !is_finite(position)) {
            let position = self.positions[number];
            return wrong(format!("vertex {number} stands at {position:?}; positions must be finite"));
        }
        if let Some(number) = self.normals.iter().position(|normal| !is_finite(normal)) {
            let normal = self.normals[number];
            return wrong(format!("vertex {number} has the normal {normal:?}; normals must be finite"));
        }
        let missing = |corners: &[u32; 3]| corners.iter().any(|&corner| corner as usize >= vertices);
        if let Some(number) = self.triangles.iter().position(missing) {
            let corners = self.triangles[number];
            return wrong(format!("triangle {number} has the vertices {corners:?}, and there are {vertices}"));
        }
        Ok(())
    }

    /// A vertex of a volume with voxels that are `spacing` apart.
    pub(super) fn corner(&self, vertex: usize, spacing: [f64; 3]) -> Corner {
        let position = self.positions[vertex];
        Corner {
            place: std::array::from_fn(|axis| (f64::from(position[axis]) / spacing[axis]) as f32),
            normal: self.normals.get(vertex).copied().unwrap_or_default(),
            value: self.values.get(vertex).copied().unwrap_or_default(),
        }
    }
}
