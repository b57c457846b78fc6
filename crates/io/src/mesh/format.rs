//! Which format a file has.

use std::path::Path;

use crate::{IoError, quoted};

/// A format in which ranks write a mesh together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `.ply`, binary little-endian, version 1.0: a float (a double for parts with an origin) for
    /// x, y, z, a float for nx, ny, nz where there are normals, and for each field; vertices of
    /// faces as int, as uint where there are more than 2^31 vertices.
    ///
    /// Source: G. Turk, *The PLY Polygon File Format*, <https://paulbourke.net/dataformats/ply/>.
    Ply,
    /// `.stl`, binary: 80 bytes that say nothing, a count of 32 bits, and for each triangle the normal by the order of its
    /// corners (zeros where it has no area), the corners as f32, and two bytes of zeros. No vertices, normals or fields.
    ///
    /// Source: <https://paulbourke.net/dataformats/stl/>.
    Stl,
    /// `.obj`, text: `v` lines, `vn` lines where there are normals, `f` lines; vertices are counted from 1. Each number is
    /// the shortest decimal one that reads as the same f32. Fields are dropped: the format has none. The first line is a
    /// comment that says how many vertices and triangles there are.
    ///
    /// Source: *Object Files (.obj)*, <https://paulbourke.net/dataformats/obj/>.
    Obj,
    /// `.vtp`, VTK's PolyData in XML with lengths of 64 bits and raw data behind the elements: Points, Normals and fields
    /// (as PointData) in Float32, connectivity and offsets of Polys in Int64.
    ///
    /// Source: <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.
    Vtp,
    /// `.vtu`, VTK's UnstructuredGrid in XML, likewise: Points and PointData in Float32, connectivity and offsets of Cells in
    /// Int64, their types in UInt8; first triangles, then hexahedra and tetrahedra.
    ///
    /// Source: <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.
    Vtu,
}

impl Format {
    /// The format that the ending of a file's name says, capital letters or not.
    ///
    /// # Errors
    /// It is none of `.ply`, `.stl`, `.obj`, `.vtp`, `.vtu`.
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

/// What stands behind the last dot of a file's name, in small letters.
pub fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
