//! Writer of Wavefront OBJ files: lines of text.

use super::rows::Rows;
use super::sections::FileSections;
use crate::IoError;

/// Start of the first line. The reader compares the counts after it with the file.
pub(super) const COMMENT: &str = "# a mesh of ";

/// Lays out the file; bytes of lines that do not fit the numbers of vertices and triangles are an
/// error.
pub(super) fn lay(layout: &mut FileSections) -> Result<(), IoError> {
    let whole = layout.content.whole;
    let normals = if layout.content.normals { whole.vertices } else { 0 };
    // The shortest lines are "v 0 0 0", "vn 0 0 0" and "f 1 1 1" with line feeds.
    for (bytes, count, least, keyword) in [
        (whole.text.positions, whole.vertices, 8, "v"),
        (whole.text.normals, normals, 9, "vn"),
        (whole.text.triangles, whole.triangles, 8, "f"),
    ] {
        let short = count.checked_mul(least).is_none_or(|least| bytes < least);
        if short || (count == 0 && bytes > 0) {
            let message = format!(
                "{bytes} bytes cannot be {count} lines of {keyword}: Whole::text has to be the sum over all ranks of what \
                 Text::of says of their parts"
            );
            return Err(IoError::mesh(message));
        }
    }
    let comment = format!("{COMMENT}{} vertices and {} triangles\n", whole.vertices, whole.triangles);
    layout.put(comment.into_bytes())?;
    layout.rows(Rows::ObjPositions)?;
    if layout.content.normals {
        layout.rows(Rows::ObjNormals)?;
    }
    layout.rows(Rows::ObjTriangles)
}
