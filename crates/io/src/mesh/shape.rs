//! [`Shape`]: shapes of cells.

use super::{Before, Part, Whole};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Triangle,
    Hexahedron,
    Tetrahedron,
}

impl Shape {
    /// All shapes, in the order of files.
    pub(crate) const ALL: [Self; 3] = [Self::Triangle, Self::Hexahedron, Self::Tetrahedron];

    pub(crate) fn corners(self) -> u64 {
        match self {
            Self::Triangle => 3,
            Self::Hexahedron => 8,
            Self::Tetrahedron => 4,
        }
    }

    /// VTK's code of the shape.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Triangle => 5,
            Self::Hexahedron => 12,
            Self::Tetrahedron => 10,
        }
    }

    pub(crate) fn names(self) -> [&'static str; 2] {
        match self {
            Self::Triangle => ["triangle", "triangles"],
            Self::Hexahedron => ["hexahedron", "hexahedra"],
            Self::Tetrahedron => ["tetrahedron", "tetrahedra"],
        }
    }

    /// Corners of a part's cells of this shape, cell by cell.
    pub(crate) fn corners_in<'a>(self, part: &Part<'a>) -> &'a [u64] {
        match self {
            Self::Triangle => part.triangles.as_flattened(),
            Self::Hexahedron => part.cells.hexahedra.as_flattened(),
            Self::Tetrahedron => part.cells.tetrahedra.as_flattened(),
        }
    }

    pub(crate) fn in_whole(self, whole: &Whole) -> u64 {
        match self {
            Self::Triangle => whole.triangles,
            Self::Hexahedron => whole.cells.hexahedra,
            Self::Tetrahedron => whole.cells.tetrahedra,
        }
    }

    pub(crate) fn before(self, before: &Before) -> u64 {
        match self {
            Self::Triangle => before.triangles,
            Self::Hexahedron => before.cells.hexahedra,
            Self::Tetrahedron => before.cells.tetrahedra,
        }
    }
}
