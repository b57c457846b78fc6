//! [`VolumeMesh`]: a mesh of cells that is distributed over the ranks.

use zippy_io::mesh::CellCounts;

use crate::points::list::Points;

/// A rank's part of a mesh of hexahedra and tetrahedra that is welded across ranks.
///
/// A rank owns the points at its samples and on edges and diagonals of cells that begin there, and
/// these cells. The rank also has copies of neighbours' points that its cells use, called *ghost*
/// points, with the same bits as on their owner.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VolumeMesh {
    pub(crate) points: Points,
    pub(crate) hexahedra: Vec<[u32; 8]>,
    pub(crate) tetrahedra: Vec<[u32; 4]>,
    pub(crate) before: CellCounts,
    pub(crate) all: CellCounts,
    pub(crate) all_points: u64,
}

impl VolumeMesh {
    /// Point positions: first this rank's own, then the ghost points.
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.points.positions
    }

    /// Values of fields, by name, one per point; the filtered field is first.
    pub fn fields(&self) -> &[(String, Vec<f32>)] {
        &self.points.fields
    }

    /// Renames a field and maps each of its values, for example to other units; no effect if the
    /// field does not exist. Local.
    pub fn map_field(&mut self, name: &str, new_name: &str, map: impl Fn(f32) -> f32) {
        self.points.map_field(name, new_name, map);
    }

    /// Hexahedra of this rank, as indices into [`positions`](Self::positions). Corners are in VTK's
    /// order: four around the bottom, counterclockwise as seen from the top, then the four above
    /// them.
    pub fn hexahedra(&self) -> &[[u32; 8]] {
        &self.hexahedra
    }

    /// Tetrahedra of this rank: three corners, counterclockwise as seen from the fourth.
    pub fn tetrahedra(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }

    /// Number of points that this rank owns.
    pub fn own_points(&self) -> usize {
        self.points.own
    }

    /// Number of a point in the whole mesh, equal on all ranks; points are numbered in the order of
    /// ranks.
    pub fn number(&self, point: u32) -> u64 {
        self.points.number(point)
    }

    /// Numbers of the ghost points in the whole mesh.
    pub fn ghosts(&self) -> &[u64] {
        &self.points.ghosts
    }

    /// Number of points that lower ranks own.
    pub fn points_before(&self) -> u64 {
        self.points.before
    }

    /// Number of cells of lower ranks.
    pub fn cells_before(&self) -> CellCounts {
        self.before
    }

    /// Number of points of the whole mesh.
    pub fn point_count(&self) -> u64 {
        self.all_points
    }

    /// Number of cells of the whole mesh.
    pub fn cell_count(&self) -> CellCounts {
        self.all
    }
}
