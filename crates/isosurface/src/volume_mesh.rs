//! [`VolumeMesh`]: a solid that is spread over the ranks.

use zippy_io::mesh::CellCounts;

use crate::points::list::Points;

/// A rank's part of a mesh of hexahedra and tetrahedra that is welded across ranks.
///
/// A rank owns the points that lie at its samples, or on edges and diagonals of cells that begin there, and the cells that
/// begin at its samples. Cells at the border of its chunks use points of its neighbours, too: these are known here as well,
/// as *ghost* points, with the same bits as their owner has.
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
    /// Where its points stand: first those that this rank owns, then the ghost points.
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.points.positions
    }

    /// Values of fields, by name, one a point. The first is the field that was filtered.
    pub fn fields(&self) -> &[(String, Vec<f32>)] {
        &self.points.fields
    }

    /// Replaces each value of a field, as by a change of units, and its name. A field that there is
    /// not stays away. Local.
    pub fn map_field(&mut self, name: &str, new_name: &str, map: impl Fn(f32) -> f32) {
        self.points.map_field(name, new_name, map);
    }

    /// This rank's hexahedra, as places in [`positions`](Self::positions). Corners of all cells are in the order of VTK:
    /// four around the bottom, counterclockwise as seen from the top, then the four above them.
    pub fn hexahedra(&self) -> &[[u32; 8]] {
        &self.hexahedra
    }

    /// This rank's tetrahedra: three corners, counterclockwise as seen from the fourth.
    pub fn tetrahedra(&self) -> &[[u32; 4]] {
        &self.tetrahedra
    }

    /// How many points this rank owns.
    pub fn own_points(&self) -> usize {
        self.points.own
    }

    /// The number of a point in the whole mesh: the same on all ranks that know it. Ranks' own points follow each other in
    /// the order of ranks.
    pub fn number(&self, point: u32) -> u64 {
        self.points.number(point)
    }

    /// The numbers of the ghost points.
    pub fn ghosts(&self) -> &[u64] {
        &self.points.ghosts
    }

    /// How many points ranks before this one own.
    pub fn points_before(&self) -> u64 {
        self.points.before
    }

    /// How many cells ranks before this one have.
    pub fn cells_before(&self) -> CellCounts {
        self.before
    }

    /// Points of the whole mesh.
    pub fn point_count(&self) -> u64 {
        self.all_points
    }

    /// Cells of the whole mesh.
    pub fn cell_count(&self) -> CellCounts {
        self.all
    }
}
