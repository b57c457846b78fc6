//! [`Facts`]: queries of conditions about arrays.

use crate::{ElementType, GhostState, Numbers};

/// Queries about the global arrays at a debug point of a running program or a recording. Arrays are
/// identified by number.
pub trait Facts {
    /// Error of a query.
    type Error: From<String>;

    /// Numbers and names of all arrays, in the order of their creation.
    fn arrays(&self) -> Vec<(u64, &str)>;

    /// Type of the cells of an array.
    ///
    /// # Errors
    /// The array does not exist.
    fn element(&self, array: u64) -> Result<ElementType, String>;

    /// Reason why two arrays cannot be compared; `None` if they can.
    fn unlike(&self, pair: [u64; 2]) -> Option<String>;

    /// True if the state of ghost cells is known (checked runs).
    fn is_checked(&self) -> bool;

    /// Statistics of each component of `numbers`.
    ///
    /// # Errors
    /// The fact is unknown.
    fn values(&mut self, array: u64, numbers: &Numbers) -> Result<Vec<Values>, Self::Error>;

    /// Smallest magnitude of a component, without NaNs; `None` if there is no number.
    ///
    /// # Errors
    /// The fact is unknown.
    fn least(&mut self, array: u64, numbers: &Numbers, component: usize) -> Result<Option<f64>, Self::Error>;

    /// Exact sum of a component, or of all components, rounded once.
    ///
    /// # Errors
    /// The fact is unknown.
    fn sum(&mut self, array: u64, numbers: &Numbers, component: Option<usize>) -> Result<f64, Self::Error>;

    /// True if all cells of two arrays have the same bits.
    ///
    /// # Errors
    /// The fact is unknown.
    fn same(&mut self, pair: [u64; 2]) -> Result<bool, Self::Error>;

    /// Number of chunk sides whose ghost cells have this state.
    ///
    /// # Errors
    /// The fact is unknown.
    fn sides(&mut self, array: u64, state: GhostState) -> Result<u64, Self::Error>;
}

/// Statistics of a component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Values {
    /// Number of NaNs.
    pub nans: u64,
    /// Number of infinities.
    pub infinities: u64,
    /// Smallest and largest number that is not NaN, with infinities; `None` if there is no number.
    pub extremes: Option<(f64, f64)>,
}
