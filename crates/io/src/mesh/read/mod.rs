//! Meshes out of files, whole.
//!
//! These readers replace the crates `stl_io`, `ply-rs-bw` and `tobj`, which are oracles in tests:
//!
//! * Errors here name the byte. Those of the crates name a line or nothing.
//! * `stl_io` takes any file that begins with `solid ` for text, reads no text that begins
//!   otherwise, and of several solids in a file the first.
//! * `ply-rs-bw` reads no `.5`, `1.` and `nan` in text, no comment in another encoding than UTF-8,
//!   and does not see that bytes follow the data.
//! * `tobj` reads numbers of vertices without a bound, which overflows, drops unknown lines, joins
//!   no continued lines, and cuts faces that are not convex into triangles that leave their
//!   outline.

mod faces;
mod obj;
mod ply;
mod positions;
mod pvtp;
mod source;
mod stl;
mod vtp;

use std::path::Path;

use super::Format;
use crate::{IoError, quoted};

/// A mesh that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    /// Point from which positions count: 0, or a corner of a mesh whose coordinates have too many
    /// digits for floats.
    pub origin: [f64; 3],
    /// x, y and z of each vertex, from the origin.
    pub positions: Vec<[f32; 3]>,
    /// x, y and z of a normal for each vertex, where the file has them.
    pub normals: Option<Vec<[f32; 3]>>,
    /// Named scalars, each with a number for each vertex.
    pub fields: Vec<(String, Vec<f32>)>,
    /// Three vertices of each triangle, counted from 0.
    pub triangles: Vec<[u64; 3]>,
    /// Notes for users of the file: contradictions and how they are read, bytes that are left out.
    pub notes: Vec<String>,
}

/// Reads a whole mesh into memory, in the format that the ending of the name says: `.ply`, `.stl`, `.obj`, `.vtp` or
/// `.pvtp`. Local to the calling rank. Numbers of other types become the nearest f32.
/// Positions of a mesh far from 0 that floats do not hold count from an [origin](Mesh::origin).
///
/// * PLY: text and binary in both byte orders; vertices with any properties, faces with any number
///   of corners (the list `vertex_indices` or `vertex_index`) and with further lists, strips of
///   triangles (`tristrips`); other elements are dropped.
/// * STL: binary and text, of one or several solids. Each corner is a vertex of its own, with the
///   normal of its triangle. A wrong number of triangles, bytes after them and a missing `endsolid`
///   are [notes](Mesh::notes).
/// * OBJ: lines of `v`, `vn` and `f`, with faces of any number of corners; texture coordinates,
///   groups, lines, materials and weights are dropped. Normals are read where each vertex has the
///   one of its own number in all corners; others are dropped.
/// * VTP: Points, Polys, Strips and, of PointData, scalars and the normals, as text, as base64 text
///   or raw after all elements, compressed by zlib, LZ4 or not; Verts and Lines are dropped.
/// * PVTP: all pieces behind each other, the vertices of each by themselves.
///
/// Faces of more than three corners become triangles with the same outline, also those that are not
/// convex (up to 4,096 corners). Faces of fewer than three corners are dropped, but in PLY, where
/// they are an error.
///
/// # Errors
/// The file cannot be read, is not a regular one, is truncated or goes on behind its end, or is no
/// such file: what is wrong and at which byte. Vertices that there are not. Nothing is allocated
/// from a number in a file before the file has been shown to hold that much.
pub fn read(path: impl AsRef<Path>) -> Result<Mesh, IoError> {
    let path = path.as_ref();
    if super::format::ending(path) == "pvtp" {
        return pvtp::read(path);
    }
    match Format::of(path)? {
        Format::Ply => ply::read(path),
        Format::Stl => stl::read(path),
        Format::Obj => obj::read(path),
        Format::Vtp => vtp::read(path),
        Format::Vtu => Err(IoError::request(path, "has cells of a volume; surfaces are read, of the other formats")),
    }
}

impl Mesh {
    /// Puts another mesh with the same fields behind this one.
    ///
    /// # Errors
    /// What it lacks or has too many of.
    fn append(&mut self, other: Self) -> Result<(), String> {
        let names = |mesh: &Self| mesh.fields.iter().map(|(name, _)| quoted(name)).collect::<Vec<_>>().join(", ");
        if self.normals.is_some() != other.normals.is_some() || !self.same_names(&other) {
            let with = |mesh: &Self| if mesh.normals.is_some() { "normals" } else { "no normals" };
            let (own, others) = (names(self), names(&other));
            let (a, b) = (with(&other), with(self));
            return Err(format!("it has {a} and the fields [{others}]; a piece before has {b} and [{own}]"));
        }
        self.notes.extend(other.notes);
        let before = self.positions.len() as u64;
        if before == 0 {
            self.origin = other.origin;
        }
        let moved = [0, 1, 2].map(|axis| other.origin[axis] - self.origin[axis]);
        let from_origin = |position: [f32; 3]| [0, 1, 2].map(|axis| (f64::from(position[axis]) + moved[axis]) as f32);
        if moved == [0.0; 3] {
            self.positions.extend(other.positions);
        } else {
            self.positions.extend(other.positions.into_iter().map(from_origin));
        }
        if let (Some(normals), Some(others)) = (&mut self.normals, other.normals) {
            normals.extend(others);
        }
        for ((_, values), (_, others)) in self.fields.iter_mut().zip(other.fields) {
            values.extend(others);
        }
        self.triangles.extend(other.triangles.iter().map(|triangle| triangle.map(|vertex| before + vertex)));
        Ok(())
    }

    fn same_names(&self, other: &Self) -> bool {
        self.fields.iter().map(|(name, _)| name).eq(other.fields.iter().map(|(name, _)| name))
    }
}
