//! Shapes of cells in the layout of `shaders/kernels/table.wgsl`.

use super::items::NONE;
use crate::cell::table;

/// Number of cases of a cell: which of its eight corners are inside.
pub(super) const CASES: usize = 1 << 8;

/// Words of the table:
///
/// - per case its shape number;
/// - per shape the offset of its triangles, their number (bits 16 to 23) and the number of interior
///   vertices (bits 24 to 31);
/// - the triangles, one vertex per byte.
pub(super) fn table_words() -> Vec<u32> {
    let (table, shapes) = (table(), table().shapes());
    let number = |case: u8| if table.is_plain(case) { u32::from(table.plain(case)) } else { NONE };
    let mut list: Vec<u32> = (0..=255).map(number).collect();
    debug_assert_eq!(list.len(), CASES);
    let mut next = list.len() + shapes.len();
    for shape in shapes {
        list.push(next as u32 | (shape.triangles.len() as u32) << 16 | (shape.interior.len() as u32) << 24);
        next += shape.triangles.len();
    }
    assert!(next < 1 << 16, "{next}");
    let packed = |[a, b, c]: [u8; 3]| u32::from_le_bytes([a, b, c, 0]);
    list.extend(shapes.iter().flat_map(|shape| shape.triangles.iter().map(|&triangle| packed(triangle))));
    list
}
