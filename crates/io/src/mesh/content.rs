//! [`MeshContent`]: content of a mesh file.

use super::part::Whole;

/// Counts of a whole mesh, and the data of its vertices.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MeshContent {
    pub whole: Whole,
    pub normals: bool,
    /// Names of the scalars of the vertices.
    pub fields: Vec<String>,
}
