//! [`Mesh`]: result of the mesh readers.

/// Mesh in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    /// Origin of the positions: 0, or a corner of a mesh whose coordinates have too many digits for
    /// f32.
    pub origin: [f64; 3],
    /// x, y and z of each vertex, relative to the origin.
    pub positions: Vec<[f32; 3]>,
    /// x, y and z of a normal per vertex, if the file has normals.
    pub normals: Option<Vec<[f32; 3]>>,
    /// Named scalars, one number per vertex.
    pub fields: Vec<(String, Vec<f32>)>,
    /// Three vertex indices per triangle.
    pub triangles: Vec<[u64; 3]>,
    /// Notes for users of the file: contradictions and their interpretation, and ignored bytes.
    pub notes: Vec<String>,
}
