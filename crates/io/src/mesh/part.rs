//! What a rank holds of a mesh, and where it stands in the whole.

use super::Text;

/// A rank's part of a mesh.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part<'a> {
    /// x, y and z of the vertices that this rank owns.
    pub positions: &'a [[f32; 3]],
    /// x, y and z of a normal for each of these vertices. All ranks give some (an empty slice, where there
    /// are no vertices), or none does.
    pub normals: Option<&'a [[f32; 3]]>,
    /// Scalars of these vertices; the same names on all ranks, in the same order.
    pub fields: &'a [Field<'a>],
    /// Three vertices for each triangle of this rank, as numbers in the whole mesh, from 0 on. The vertices may be other
    /// ranks'.
    pub triangles: &'a [[u64; 3]],
    /// Positions of the three corners of each triangle. Only STL needs them; empty else.
    pub corners: &'a [[[f32; 3]; 3]],
}

/// A named scalar of each vertex.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    /// Its name. In PLY a word in ASCII; in VTP any text without control characters.
    pub name: &'a str,
    /// One number a vertex.
    pub values: &'a [f32],
}

/// The whole mesh: sums over all ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Whole {
    /// Vertices of all ranks.
    pub vertices: u64,
    /// Triangles of all ranks.
    pub triangles: u64,
    /// Bytes of the lines of all ranks, in OBJ; zeros else.
    pub text: Text,
}

/// What stands before a rank's part: sums over all lower ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Before {
    /// Vertices of lower ranks.
    pub vertices: u64,
    /// Triangles of lower ranks.
    pub triangles: u64,
    /// Bytes of the lines of lower ranks, in OBJ; zeros else.
    pub text: Text,
}
