//! What a rank holds of a mesh, and where it stands in the whole.

use super::Text;

/// A rank's part of a mesh.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part<'a> {
    /// x, y and z of the vertices that this rank owns.
    pub positions: &'a [[f32; 3]],
    /// The point that the positions and corners count from: files get the sums as doubles, STL as
    /// floats. All ranks give the same one, or none does and files get the positions as floats.
    pub origin: Option<[f64; 3]>,
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
    /// Cells of a volume. Only VTU holds them; empty else.
    pub cells: Cells<'a>,
}

/// Cells of this rank, as numbers of vertices in the whole mesh, which may be other ranks'. Corners are in VTK's order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cells<'a> {
    /// Four corners around the bottom, counterclockwise as seen from the top, then the four above them.
    pub hexahedra: &'a [[u64; 8]],
    /// Three corners, counterclockwise as seen from the fourth.
    pub tetrahedra: &'a [[u64; 4]],
}

impl Cells<'_> {
    /// How many there are.
    pub fn counts(&self) -> CellCounts {
        let [hexahedra, tetrahedra] = [self.hexahedra.len(), self.tetrahedra.len()].map(|count| count as u64);
        CellCounts { hexahedra, tetrahedra }
    }
}

/// How many cells of each kind there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CellCounts {
    /// With eight corners.
    pub hexahedra: u64,
    /// With four.
    pub tetrahedra: u64,
}

impl CellCounts {
    /// Cells of all kinds.
    pub fn all(&self) -> u64 {
        self.hexahedra.saturating_add(self.tetrahedra)
    }
}

impl Part<'_> {
    /// What it has, as if it were the whole mesh, with no lines of text.
    pub fn alone(&self) -> Whole {
        let (vertices, triangles) = (self.positions.len() as u64, self.triangles.len() as u64);
        let doubles = self.origin.is_some();
        Whole { vertices, triangles, cells: self.cells.counts(), text: Text::default(), doubles }
    }
}

/// A named scalar of each vertex.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    /// Its name. In PLY a word in ASCII; in VTP and VTU any text without control characters.
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
    /// Cells of all ranks; zeros but in VTU.
    pub cells: CellCounts,
    /// Bytes of the lines of all ranks, in OBJ; zeros else.
    pub text: Text,
    /// True if the file has positions as doubles: the parts have an origin.
    pub doubles: bool,
}

/// What stands before a rank's part: sums over all lower ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Before {
    /// Vertices of lower ranks.
    pub vertices: u64,
    /// Triangles of lower ranks.
    pub triangles: u64,
    /// Cells of lower ranks.
    pub cells: CellCounts,
    /// Bytes of the lines of lower ranks, in OBJ; zeros else.
    pub text: Text,
}
