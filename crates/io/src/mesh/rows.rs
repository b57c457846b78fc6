//! [`Rows`]: content of a mesh file per vertex or cell, and its bytes.

use std::ops::Range;

use super::content::MeshContent;
use super::facet::{FACET_BYTES, facet};
use super::obj_lines::{face, vector, vertex};
use super::part::{Before, Part, Text, Whole, with_origin};
use super::shape::Shape;

/// Content of a file per vertex or cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rows {
    /// Positions, normals and fields of PLY.
    PlyVertices,
    /// Number three, and three 32-bit vertex indices.
    PlyFaces,
    /// Triangles of STL.
    Facets,
    /// Lines of OBJ.
    ObjPositions,
    ObjNormals,
    ObjTriangles,
    /// Three floats.
    Positions,
    Normals,
    /// One float.
    Field(usize),
    /// 64-bit vertex indices of a cell.
    Corners(Shape),
    /// 64-bit end of a cell, counted in corners.
    Ends(Shape),
    /// VTK's code of the shape.
    Types(Shape),
}

impl Rows {
    /// Shape of the cells; `None` for rows of vertices.
    pub(crate) fn shape(self) -> Option<Shape> {
        match self {
            Self::PlyFaces | Self::Facets | Self::ObjTriangles => Some(Shape::Triangle),
            Self::Corners(shape) | Self::Ends(shape) | Self::Types(shape) => Some(shape),
            _ => None,
        }
    }

    pub(crate) fn count(self, part: &Part<'_>) -> usize {
        self.shape().map_or(part.positions.len(), |shape| shape.corners_in(part).len() / shape.corners() as usize)
    }

    /// Bytes of a row; `None` for text.
    pub(crate) fn bytes(self, content: &MeshContent) -> Option<u64> {
        match self {
            Self::PlyVertices => {
                Some(position_bytes(content) + if content.normals { 12 } else { 0 } + 4 * content.fields.len() as u64)
            }
            Self::PlyFaces => Some(13),
            Self::Facets => Some(FACET_BYTES),
            Self::ObjPositions | Self::ObjNormals | Self::ObjTriangles => None,
            Self::Positions => Some(position_bytes(content)),
            Self::Normals => Some(12),
            Self::Field(_) => Some(4),
            Self::Corners(shape) => Some(8 * shape.corners()),
            Self::Ends(_) => Some(8),
            Self::Types(_) => Some(1),
        }
    }

    pub(crate) fn text(self, text: &Text) -> u64 {
        match self {
            Self::ObjPositions => text.positions,
            Self::ObjNormals => text.normals,
            Self::ObjTriangles => text.triangles,
            _ => 0,
        }
    }

    pub(crate) fn append(
        self,
        part: &Part<'_>,
        (before, whole): (&Before, &Whole),
        rows: Range<usize>,
        out: &mut Vec<u8>,
    ) {
        let normals = part.normals.unwrap_or_default();
        match self {
            Self::PlyVertices => {
                for row in rows {
                    positions(part, row..row + 1, out);
                    floats(normals.get(row).map_or(&[], |normal| &normal[..]), out);
                    part.fields.iter().for_each(|field| floats(&[field.values[row]], out));
                }
            }
            Self::PlyFaces => {
                for triangle in &part.triangles[rows] {
                    out.push(3);
                    // The layout limits the number of vertices; int and uint are equal below 2^31.
                    triangle.iter().for_each(|&vertex| out.extend((vertex as u32).to_le_bytes()));
                }
            }
            Self::Facets => part.corners[rows].iter().for_each(|corners| facet(corners, part.origin, out)),
            Self::ObjPositions => {
                part.positions[rows].iter().for_each(|position_bytes| vertex(position_bytes, part.origin, out));
            }
            Self::ObjNormals => normals[rows].iter().for_each(|normal| vector("vn", normal, out)),
            Self::ObjTriangles => {
                part.triangles[rows].iter().for_each(|triangle| face(triangle, part.normals.is_some(), out));
            }
            Self::Positions => positions(part, rows, out),
            Self::Normals => floats(normals[rows].as_flattened(), out),
            Self::Field(field) => floats(&part.fields[field].values[rows], out),
            Self::Corners(shape) => {
                let each = shape.corners() as usize;
                let corners = &shape.corners_in(part)[rows.start * each..rows.end * each];
                corners.iter().for_each(|vertex| out.extend(vertex.to_le_bytes()));
            }
            Self::Ends(shape) => {
                let lower = Shape::ALL.into_iter().take_while(|&other| other != shape);
                let lower: u64 = lower.map(|other| other.corners() * other.in_whole(whole)).sum();
                let first = shape.before(before) + 1;
                rows.for_each(|row| out.extend((lower + shape.corners() * (first + row as u64)).to_le_bytes()));
            }
            Self::Types(shape) => out.extend(rows.map(|_| shape.number())),
        }
    }
}

fn position_bytes(content: &MeshContent) -> u64 {
    if content.whole.doubles { 24 } else { 12 }
}

fn positions(part: &Part<'_>, rows: Range<usize>, out: &mut Vec<u8>) {
    let all = &part.positions[rows];
    match part.origin {
        None => floats(all.as_flattened(), out),
        Some(origin) => {
            for position_bytes in all {
                with_origin(position_bytes, origin).iter().for_each(|coordinate| out.extend(coordinate.to_le_bytes()));
            }
        }
    }
}

fn floats(values: &[f32], out: &mut Vec<u8>) {
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}
