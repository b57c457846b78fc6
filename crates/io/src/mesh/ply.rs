//! Writer of PLY files: a text header that lists the properties of each element, and their numbers.

use zippy_files::quoted;

use super::rows::Rows;
use super::sections::FileSections;
use crate::IoError;

pub(super) const POSITION: [&str; 3] = ["x", "y", "z"];
pub(super) const NORMAL: [&str; 3] = ["nx", "ny", "nz"];

pub(super) fn lay(layout: &mut FileSections) -> Result<(), IoError> {
    let vertices = layout.content.whole.vertices;
    let index = match vertices {
        0..=0x8000_0000 => "int",
        0x8000_0001..=0x1_0000_0000 => "uint",
        _ => {
            let message = format!("{vertices} vertices; PLY counts them in 32 bits, which are 2^32; VTP has 64");
            return Err(IoError::mesh(message));
        }
    };
    for name in &layout.content.fields {
        if POSITION.iter().chain(&NORMAL).any(|reserved| reserved == name) {
            return Err(IoError::mesh(format!("a field cannot be called {}, which PLY needs itself", quoted(name))));
        }
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            let message = format!("the field {}; in PLY a name is one word of visible ASCII characters", quoted(name));
            return Err(IoError::mesh(message));
        }
    }
    let kind = if layout.content.whole.doubles { "double" } else { "float" };
    let built_in = POSITION.iter().map(|&name| (kind, name));
    let built_in =
        built_in.chain(if layout.content.normals { &NORMAL[..] } else { &[] }.iter().map(|&name| ("float", name)));
    let all = built_in.chain(layout.content.fields.iter().map(|name| ("float", name.as_str())));
    let properties: String = all.map(|(kind, name)| format!("property {kind} {name}\n")).collect();
    let header = format!(
        "ply\nformat binary_little_endian 1.0\nelement vertex {vertices}\n{properties}element face {}\n\
         property list uchar {index} vertex_indices\nend_header\n",
        layout.content.whole.triangles
    );
    layout.put(header.into_bytes())?;
    layout.rows(Rows::PlyVertices)?;
    layout.rows(Rows::PlyFaces)
}
