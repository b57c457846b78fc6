//! [`Reduced`]: what a rank has that is reduced.

use super::number::{Format, Number};
use super::source::Work;
use crate::error::Result;

/// Numbers of this rank, some of each cell, each reduced for itself.
pub trait Reduced {
    /// Their type.
    type Of: Number;

    /// How many there are of each cell.
    fn components(&self) -> usize;

    /// Cells on this rank.
    fn cells(&self) -> u64;

    /// How the device's kernels read the cells, where they do the work; else the host does.
    fn format(&self) -> Option<Format>;

    /// Runs a kernel over one component.
    ///
    /// # Errors
    /// A failing device.
    fn fold(&self, format: Format, work: (&Work, &[u32]), component: usize, each: &mut dyn FnMut(&[u32]))
    -> Result<()>;

    /// Reads all cells to the host, some at a time, and calls `each` with a component's number and a number.
    ///
    /// # Errors
    /// A failing device.
    fn visit(&self, each: impl FnMut(usize, Self::Of)) -> Result<()>;
}
