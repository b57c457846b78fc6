//! Writer of VTK XML PolyData with triangles.

use super::rows::Rows;
use super::sections::FileSections;
use super::shape::Shape::Triangle;
use super::xml::{self, Document, array};
use crate::IoError;

pub(super) fn lay(layout: &mut FileSections) -> Result<(), IoError> {
    let triangles = layout.content.whole.triangles;
    let counts = format!("NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"{triangles}\"");
    let arrays = vec![
        (array("Int64", "connectivity", 1), vec![Rows::Corners(Triangle)]),
        (array("Int64", "offsets", 1), vec![Rows::Ends(Triangle)]),
    ];
    xml::lay(layout, Document { kind: "PolyData", counts: &counts, cells: "Polys", arrays })
}
