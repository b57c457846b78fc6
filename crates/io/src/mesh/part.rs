//! A rank's part of a mesh, and its position in the whole.

/// Part of a mesh that one rank owns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Part<'a> {
    /// x, y and z of the vertices of this rank.
    pub positions: &'a [[f32; 3]],
    /// Origin of positions and corners: files get the sums as doubles, STL as floats. The same on
    /// all ranks; `None` on all ranks writes the positions as floats.
    pub origin: Option<[f64; 3]>,
    /// x, y and z of a normal per vertex. Either all ranks have normals (an empty slice without
    /// vertices), or none has.
    pub normals: Option<&'a [[f32; 3]]>,
    /// Scalars of the vertices; the same names on all ranks, in the same order.
    pub fields: &'a [Field<'a>],
    /// Three vertex indices per triangle of this rank, from 0, in the whole mesh. Other ranks may
    /// own the vertices.
    pub triangles: &'a [[u64; 3]],
    /// Positions of the three corners of each triangle, for STL only; else empty.
    pub corners: &'a [[[f32; 3]; 3]],
    /// Cells of a volume, for VTU only; else empty.
    pub cells: Cells<'a>,
}

/// Cells of a rank, as vertex indices in the whole mesh; other ranks may own the vertices. Corners
/// are in VTK's order.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cells<'a> {
    /// Four corners of the bottom, counterclockwise as seen from the top, then the four corners
    /// above them.
    pub hexahedra: &'a [[u64; 8]],
    /// Three corners, counterclockwise as seen from the fourth.
    pub tetrahedra: &'a [[u64; 4]],
}

impl Cells<'_> {
    /// Number of cells of each shape.
    pub fn counts(&self) -> CellCounts {
        let [hexahedra, tetrahedra] = [self.hexahedra.len(), self.tetrahedra.len()].map(|count| count as u64);
        CellCounts { hexahedra, tetrahedra }
    }
}

/// Number of cells of each shape.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CellCounts {
    /// Number of cells with eight corners.
    pub hexahedra: u64,
    /// Number of cells with four corners.
    pub tetrahedra: u64,
}

impl CellCounts {
    /// Number of cells of all shapes.
    pub fn all(&self) -> u64 {
        self.hexahedra.saturating_add(self.tetrahedra)
    }
}

impl Part<'_> {
    /// Counts of the part as a whole mesh, without lines of text.
    pub fn alone(&self) -> Whole {
        let (vertices, triangles) = (self.positions.len() as u64, self.triangles.len() as u64);
        let doubles = self.origin.is_some();
        Whole { vertices, triangles, cells: self.cells.counts(), text: Text::default(), doubles }
    }
}

/// Named scalar per vertex.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    /// Name: in PLY an ASCII word; in VTP and VTU any text without control characters.
    pub name: &'a str,
    /// One number per vertex.
    pub values: &'a [f32],
}

/// Counts of the whole mesh: sums over all ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Whole {
    /// Vertices of all ranks.
    pub vertices: u64,
    /// Triangles of all ranks.
    pub triangles: u64,
    /// Cells of all ranks; zeros except in VTU.
    pub cells: CellCounts,
    /// Bytes of the lines of all ranks, in OBJ; else zeros.
    pub text: Text,
    /// True if the file has positions as doubles, for parts with an origin.
    pub doubles: bool,
}

/// Counts before a rank's part: sums over all lower ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Before {
    /// Vertices of lower ranks.
    pub vertices: u64,
    /// Triangles of lower ranks.
    pub triangles: u64,
    /// Cells of lower ranks.
    pub cells: CellCounts,
    /// Bytes of the lines of lower ranks, in OBJ; else zeros.
    pub text: Text,
}

/// Bytes of lines of an OBJ file: of a rank's part ([`Self::of`]), or sums over ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Text {
    /// Bytes of the `v` lines.
    pub positions: u64,
    /// Bytes of the `vn` lines.
    pub normals: u64,
    /// Bytes of the `f` lines.
    pub triangles: u64,
}

pub(super) fn with_origin(position: &[f32; 3], origin: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|row| origin[row] + f64::from(position[row]))
}
