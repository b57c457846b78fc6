//! [`Mesh`]: a surface that is distributed over the ranks.

use crate::points::list::Points;

/// A rank's part of a triangle mesh that is welded across ranks.
///
/// A rank owns the vertices on grid edges that begin at its samples, and the triangles of cells
/// that begin there. The rank also has copies of neighbours' vertices that its triangles use,
/// called *ghost* vertices, with the same bits as on their owner (on adapters of one model).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    pub(crate) points: Points,
    pub(crate) has_normals: bool,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) triangles_before: u64,
    pub(crate) totals: Totals,
}

/// Totals of the whole mesh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub vertices: u64,
    pub interior: u64,
    pub triangles: u64,
}

impl Mesh {
    /// Vertex positions: first this rank's own, then the ghost vertices.
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.points.positions
    }

    /// Unit normals towards lower values, one per vertex; zeros if the gradient is zero or NaN.
    /// Empty for an extractor without normals.
    pub fn normals(&self) -> &[[f32; 3]] {
        &self.points.normals
    }

    /// Values of further fields, by name, one per vertex.
    pub fn fields(&self) -> &[(String, Vec<f32>)] {
        &self.points.fields
    }

    /// Renames a field and maps each of its values, for example to other units; no effect if the
    /// field does not exist. Local.
    pub fn map_field(&mut self, name: &str, new_name: &str, map: impl Fn(f32) -> f32) {
        self.points.map_field(name, new_name, map);
    }

    /// Triangles of this rank, as indices into [`positions`](Self::positions), counterclockwise as
    /// seen from lower values.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Number of vertices that this rank owns.
    pub fn own_vertices(&self) -> usize {
        self.points.own
    }

    /// Number of a vertex in the whole mesh, equal on all ranks; vertices are numbered in the order
    /// of ranks.
    pub fn number(&self, vertex: u32) -> u64 {
        self.points.number(vertex)
    }

    /// Numbers of the ghost vertices in the whole mesh.
    pub fn ghosts(&self) -> &[u64] {
        &self.points.ghosts
    }

    /// Number of vertices that lower ranks own.
    pub fn vertices_before(&self) -> u64 {
        self.points.before
    }

    /// Number of triangles of lower ranks.
    pub fn triangles_before(&self) -> u64 {
        self.triangles_before
    }

    /// Number of vertices of the whole mesh.
    pub fn vertices(&self) -> u64 {
        self.totals.vertices
    }

    /// Number of vertices of the whole mesh that lie inside a cell, not on a grid edge.
    pub fn interior_vertices(&self) -> u64 {
        self.totals.interior
    }

    /// Number of triangles of the whole mesh.
    pub fn triangle_count(&self) -> u64 {
        self.totals.triangles
    }
}
