//! Coordinates of cells.

/// Coordinates of a cell in the box of a problem; [0, 0, 0] is the first cell of the box.
pub type CellIndex = [i64; 3];
