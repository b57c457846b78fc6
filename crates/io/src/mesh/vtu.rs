//! Writer of VTK XML UnstructuredGrid with cells of several shapes.

use super::rows::Rows;
use super::sections::FileSections;
use super::shape::Shape;
use super::xml::{self, Document, array};
use crate::IoError;

pub(super) fn lay(layout: &mut FileSections) -> Result<(), IoError> {
    let count =
        layout.content.whole.triangles.checked_add(layout.content.whole.cells.all()).filter(|&count| count < u64::MAX);
    let count = count.ok_or_else(|| layout.too_long())?;
    let all = |rows: fn(Shape) -> Rows| Shape::ALL.map(rows).to_vec();
    let arrays = vec![
        (array("Int64", "connectivity", 1), all(Rows::Corners)),
        (array("Int64", "offsets", 1), all(Rows::Ends)),
        (array("UInt8", "types", 1), all(Rows::Types)),
    ];
    let counts = format!("NumberOfCells=\"{count}\"");
    xml::lay(layout, Document { kind: "UnstructuredGrid", counts: &counts, cells: "Cells", arrays })
}
