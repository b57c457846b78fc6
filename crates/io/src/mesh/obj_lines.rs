//! Lines of Wavefront OBJ files, and their lengths.

use std::io::Write;

use super::part::{Part, Text, with_origin};
use crate::IoError;

impl Text {
    /// Length of the lines of a part. Local; costs as much as formatting the lines, but keeps one
    /// of them in memory.
    ///
    /// # Errors
    /// A number of a position or a normal is not finite; OBJ cannot express that.
    pub fn of(part: &Part<'_>) -> Result<Self, IoError> {
        let normals = part.normals.unwrap_or_default();
        for (what, vectors) in [("position", part.positions), ("normal", normals)] {
            if let Some(vertex) = vectors.iter().position(|vector| !vector.iter().all(|part| part.is_finite())) {
                let message = format!(
                    "vertex {vertex} of this part has a {what} of {:?}; OBJ has finite numbers only; PLY and VTP have all",
                    vectors[vertex]
                );
                return Err(IoError::mesh(message));
            }
        }
        let triangles = part.triangles;
        Ok(Self {
            positions: total_length(part.positions, |position, out| vertex(position, part.origin, out)),
            normals: total_length(normals, |normal, out| vector("vn", normal, out)),
            triangles: total_length(triangles, |triangle, out| face(triangle, part.normals.is_some(), out)),
        })
    }
}

fn total_length<T>(rows: &[T], put: impl Fn(&T, &mut Vec<u8>)) -> u64 {
    let mut line = Vec::new();
    let count = |row| {
        line.clear();
        put(row, &mut line);
        line.len() as u64
    };
    rows.iter().map(count).sum()
}

/// Adds the origin, if there is one.
pub(super) fn vertex(position: &[f32; 3], origin: Option<[f64; 3]>, out: &mut Vec<u8>) {
    match origin {
        None => vector("v", position, out),
        Some(origin) => vector("v", &with_origin(position, origin), out),
    }
}

/// Writes a keyword and three numbers, with enough digits to keep them distinct.
pub(super) fn vector<T: std::fmt::Display>(word: &str, [x, y, z]: &[T; 3], out: &mut Vec<u8>) {
    let _ = writeln!(out, "{word} {x} {y} {z}");
}

/// Writes the three vertices of a face, numbered from 1, optionally with their normals.
pub(super) fn face(triangle: &[u64; 3], normals: bool, out: &mut Vec<u8>) {
    out.push(b'f');
    for vertex in triangle {
        // u64::MAX + 1 needs a larger type.
        let number = u128::from(*vertex) + 1;
        let _ = if normals { write!(out, " {number}//{number}") } else { write!(out, " {number}") };
    }
    out.push(b'\n');
}
