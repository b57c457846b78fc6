//! Readers of whole mesh files.
//!
//! The crates `stl_io`, `ply-rs-bw` and `tobj` serve only as oracles in tests, for these reasons:
//!
//! - Errors name the byte. Those of the crates name a line or nothing.
//! - `stl_io` treats every file that begins with `solid ` as text, reads no other text, and reads
//!   only the first of several solids.
//! - `ply-rs-bw` does not read `.5`, `1.` and `nan` in text or comments in another encoding than
//!   UTF-8, and does not detect bytes after the data.
//! - `tobj` reads vertex numbers without a bound, which overflow, drops unknown lines, does not
//!   join continued lines, and triangulates concave faces outside of their outline.

mod faces;
mod mesh;
mod obj;
mod ply;
mod positions;
mod pvtp;
mod source;
mod stl;
mod vtp;

use std::path::Path;

use zippy_files::quoted;

pub use mesh::Mesh;

use super::Format;
use crate::IoError;

/// Reads a whole mesh into memory. The extension selects the format: `.ply`, `.stl`, `.obj`, `.vtp`
/// or `.pvtp`. Local. Numbers of other types are rounded to the nearest f32. Positions far from 0
/// that f32 cannot represent are relative to an [origin](Mesh::origin).
///
/// - PLY: text and binary in both byte orders; vertices with any properties, faces with any number
///   of corners (the list `vertex_indices` or `vertex_index`) and with further lists, triangle
///   strips (`tristrips`); other elements are dropped.
/// - STL: binary and text, of one or several solids. Each corner is a separate vertex with the
///   normal of its triangle. A wrong number of triangles, bytes after them and a missing `endsolid`
///   are [notes](Mesh::notes).
/// - OBJ: lines of `v`, `vn` and `f`, with faces of any number of corners; texture coordinates,
///   groups, lines, materials and weights are dropped. Normals are read if every corner names the
///   normal with the number of its vertex; else they are dropped.
/// - VTP: Points, Polys, Strips and, from PointData, scalars and the normals, as text, base64 or
///   raw appended data, uncompressed or compressed by zlib or LZ4; Verts and Lines are dropped.
/// - PVTP: all pieces in order; vertices of different pieces are not merged.
///
/// Faces of more than three corners are triangulated within their outline, also concave ones (up to
/// 4,096 corners). Faces of fewer than three corners are dropped, except in PLY, where they are an
/// error.
///
/// # Errors
/// The file cannot be read, is not regular, is truncated, has bytes after its end, or is malformed;
/// the error names the defect and the byte. A face names a missing vertex. Allocations are bounded
/// by the length of the file.
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
    /// Appends another mesh; missing or additional fields or normals are an error.
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
        let offset = [0, 1, 2].map(|axis| other.origin[axis] - self.origin[axis]);
        let from_origin = |position: [f32; 3]| [0, 1, 2].map(|axis| (f64::from(position[axis]) + offset[axis]) as f32);
        if offset == [0.0; 3] {
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
