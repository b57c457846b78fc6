//! The fastest cell of a flow.

use crate::cell_index::CellIndex;

/// Fastest fluid cell of a flow at a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FastestCell {
    /// Number of steps of the flow.
    pub step: u64,
    /// The cell.
    pub cell: CellIndex,
    /// Its speed, in cells per step.
    pub speed: f64,
}
