//! [`Reduced`]: this rank's numbers for a reduction.

use super::format::Format;
use super::number::Number;
use super::source::Work;
use crate::error::Result;

/// Numbers of this rank's cells; each component is reduced separately.
pub(crate) trait Reduced {
    /// Type of the numbers.
    type Of: Number;

    /// Number of components per cell.
    fn components(&self) -> usize;

    /// Number of cells on this rank.
    fn cells(&self) -> u64;

    /// Format of the numbers for kernels; `None` if the host does the reduction.
    fn format(&self) -> Option<Format>;

    /// Runs a kernel over one component.
    ///
    /// # Errors
    /// A device failure.
    fn fold(&self, format: Format, work: (&Work, &[u32]), component: usize, each: &mut dyn FnMut(&[u32]))
    -> Result<()>;

    /// Reduces all numbers on the host, with all threads of the rank. `start` creates the state of
    /// a task, and `add` adds a block of numbers of one component to it. The cost of a state
    /// is that of `least` numbers.
    ///
    /// # Errors
    /// A device failure.
    fn fold_on_host<A: Send>(
        &self,
        least: u64,
        start: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, usize, &[Self::Of]) + Sync,
    ) -> Result<Vec<A>>;
}
