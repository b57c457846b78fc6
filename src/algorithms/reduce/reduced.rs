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

    /// Reduces all numbers on the host, on all threads of the rank. `add` takes blocks of numbers
    /// of one component into a state that `start` makes for each task; a state is worth the time of
    /// `least` numbers.
    ///
    /// # Errors
    /// A failing device.
    fn fold_on_host<A: Send>(
        &self,
        least: u64,
        start: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, usize, &[Self::Of]) + Sync,
    ) -> Result<Vec<A>>;
}
