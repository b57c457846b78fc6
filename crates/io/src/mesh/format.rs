//! [`Format`]: file formats of meshes.

use std::path::Path;

use zippy_files::quoted;

use crate::IoError;

/// Format in which ranks write a mesh together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `.ply`, binary little-endian, version 1.0: x, y, z as float (double for parts with an
    /// origin); nx, ny, nz with normals and each field as float; vertices of faces as int, or as
    /// uint above 2^31 vertices.
    ///
    /// Source: G. Turk, *The PLY Polygon File Format*, <https://paulbourke.net/dataformats/ply/>.
    Ply,
    /// `.stl`, binary: 80 ignored bytes, a count of 32 bits, and for each triangle the normal by
    /// the order of its corners (zeros for an area of 0), the corners as f32, and two zero bytes.
    /// No shared vertices, vertex normals or fields.
    ///
    /// Source: <https://paulbourke.net/dataformats/stl/>.
    Stl,
    /// `.obj`, text: `v` lines, `vn` lines with normals, `f` lines; vertices are numbered from 1.
    /// Each number is the shortest decimal of its f32. Fields are dropped: the format has none. The
    /// first line is a comment with the numbers of vertices and triangles.
    ///
    /// Source: *Object Files (.obj)*, <https://paulbourke.net/dataformats/obj/>.
    Obj,
    /// `.vtp`, VTK XML PolyData with 64-bit lengths and raw appended data: Points, Normals and
    /// fields (as PointData) in Float32, connectivity and offsets of Polys in Int64.
    ///
    /// Source: <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.
    Vtp,
    /// `.vtu`, VTK XML UnstructuredGrid with the same encoding: Points and PointData in Float32,
    /// connectivity and offsets of Cells in Int64, their types in UInt8; triangles first, then
    /// hexahedra and tetrahedra.
    ///
    /// Source: <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.
    Vtu,
}

impl Format {
    /// Format of a file name's extension, without regard to case.
    ///
    /// # Errors
    /// The extension is none of `.ply`, `.stl`, `.obj`, `.vtp`, `.vtu`.
    pub fn of(path: impl AsRef<Path>) -> Result<Self, IoError> {
        let path = path.as_ref();
        match &*ending(path) {
            "ply" => Ok(Self::Ply),
            "stl" => Ok(Self::Stl),
            "obj" => Ok(Self::Obj),
            "vtp" => Ok(Self::Vtp),
            "vtu" => Ok(Self::Vtu),
            "pvtp" | "pvtu" => Err(IoError::request(
                path,
                "is the name of an index: mesh::write_index writes it, and mesh::write_piece each of its pieces",
            )),
            other => {
                let message =
                    format!("a name with the ending {}; meshes are .ply, .stl, .obj, .vtp or .vtu", quoted(other));
                Err(IoError::request(path, message))
            }
        }
    }
}

pub(super) fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
