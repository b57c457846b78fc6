//! Check of the length of an output.

use zippy::collective::CellSequence;
use zippy::error::{ArrayError, Result};

/// Fails if an output has fewer than `count` cells.
pub(super) fn check_room(count: u64, output: &CellSequence) -> Result<()> {
    if count <= output.len() {
        return Ok(());
    }
    let text = format!("{count} cells are selected, but {} has only {}", output.label(), output.len());
    Err(ArrayError::Other(text).into())
}
