//! [`Mesh`]: a surface that is spread over the ranks.

use crate::points::list::Points;

/// A rank's part of a triangle mesh that is welded across ranks.
///
/// A rank owns the vertices on the grid edges that begin at its samples, and the triangles of the cells that begin there.
/// Triangles at the border of its chunks use vertices of its neighbours, too: these are known here as well, as *ghost*
/// vertices, with the same bits as their owner has (on adapters of one model).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    pub(crate) points: Points,
    pub(crate) has_normals: bool,
    pub(crate) triangles: Vec<[u32; 3]>,
    pub(crate) triangles_before: u64,
    pub(crate) totals: Totals,
}

/// Of the whole mesh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub vertices: u64,
    pub interior: u64,
    pub triangles: u64,
}

impl Mesh {
    /// Where its vertices stand: first those that this rank owns, then the ghost vertices.
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.points.positions
    }

    /// Unit vectors towards lower values, one a vertex, and zeros where the gradient is zero or no number; none if they
    /// were not asked for.
    pub fn normals(&self) -> &[[f32; 3]] {
        &self.points.normals
    }

    /// Values of further fields, by name, one a vertex.
    pub fn fields(&self) -> &[(String, Vec<f32>)] {
        &self.points.fields
    }

    /// Replaces each value of a field, as by a change of units, and its name. A field that there is
    /// not stays away. Local.
    pub fn map_field(&mut self, name: &str, new_name: &str, map: impl Fn(f32) -> f32) {
        self.points.map_field(name, new_name, map);
    }

    /// The triangles of this rank, as places in [`positions`](Self::positions), counterclockwise as seen from where
    /// values are lower.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many vertices this rank owns.
    pub fn own_vertices(&self) -> usize {
        self.points.own
    }

    /// The number of a vertex in the whole mesh: the same on all ranks that know it. Ranks' own vertices follow each
    /// other in the order of ranks.
    pub fn number(&self, vertex: u32) -> u64 {
        self.points.number(vertex)
    }

    /// The numbers of the ghost vertices.
    pub fn ghosts(&self) -> &[u64] {
        &self.points.ghosts
    }

    /// How many vertices ranks before this one own.
    pub fn vertices_before(&self) -> u64 {
        self.points.before
    }

    /// How many triangles ranks before this one have.
    pub fn triangles_before(&self) -> u64 {
        self.triangles_before
    }

    /// Vertices of the whole mesh.
    pub fn vertices(&self) -> u64 {
        self.totals.vertices
    }

    /// Those of them that lie inside a cell and not on a grid edge.
    pub fn interior_vertices(&self) -> u64 {
        self.totals.interior
    }

    /// Triangles of the whole mesh.
    pub fn triangle_count(&self) -> u64 {
        self.totals.triangles
    }
}
