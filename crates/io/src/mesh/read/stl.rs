//! Reader of binary STL files, and the choice between binary and text.

mod text;

use std::path::Path;

use zippy_files::shown;

use super::Mesh;
use super::source::{MeshSource, vector};
use crate::IoError;
use crate::mesh::facet::FACET_BYTES;
use crate::mesh::stl::HEADER_BYTES;

pub(super) fn read(path: &Path) -> Result<Mesh, IoError> {
    let mut source = MeshSource::open(path)?;
    let head = source.peek(HEADER_BYTES as usize)?.to_vec();
    let count = head
        .get(HEADER_BYTES as usize - 4..HEADER_BYTES as usize)
        .map(|count| u32::from_le_bytes([0, 1, 2, 3].map(|byte| count[byte])));
    let bytes = count.map(|count| u64::from(count) * FACET_BYTES);
    // Some binary files begin with "solid", like text files.
    let is_whole = bytes.and_then(|bytes| bytes.checked_add(HEADER_BYTES)) == Some(source.length);
    if !is_whole && text::recognises(&head) {
        return text::read(source);
    }
    source.fill(&mut vec![0; head.len()])?;
    let (Some(count), Some(bytes)) = (count, bytes) else {
        return source
            .malformed(source.length, format!("the file ends inside the first {HEADER_BYTES} bytes of a binary STL"));
    };
    let mut mesh = Mesh { normals: Some(Vec::new()), ..Mesh::default() };
    let (whole, rest) = (source.left() / FACET_BYTES, source.left() % FACET_BYTES);
    // Streaming writers leave 0 or the maximum.
    let is_unknown = count == 0 || count == u32::MAX;
    let count = match u64::from(count) {
        stated if stated != whole && rest == 0 && (is_unknown || stated < whole) => {
            let path = shown(path);
            mesh.notes.push(format!("{path}: its header counts {stated} triangles; the {whole} that it has are read"));
            whole
        }
        stated => stated,
    };
    let bytes = if count == whole { count * FACET_BYTES } else { bytes };
    source.need(Some(bytes))?;
    source.rows(count, FACET_BYTES, |_, row| {
        let first = mesh.positions.len() as u64;
        mesh.positions.extend([12, 24, 36].map(|at| vector(row, at)));
        mesh.normals.get_or_insert_default().extend([vector(row, 0); 3]);
        mesh.triangles.push([first, first + 1, first + 2]);
        Ok(())
    })?;
    match source.left() {
        0 => {}
        left if left < FACET_BYTES && count > 0 => {
            mesh.notes.push(format!("{left} bytes follow the triangles in {}; they are left out", shown(path)));
        }
        _ => source.end(bytes)?,
    }
    Ok(mesh)
}
