//! [`Facts`]: what conditions ask of arrays.

use crate::debug::protocol::{ElementType, Numbers};
use crate::history::GhostState;

/// What conditions ask of the global arrays at a debug point, of a program or of a recording. Arrays are named by number.
pub trait Facts {
    /// Why there is no answer.
    type Error: From<String>;

    /// All of them with their names, in the order in which they were made.
    fn arrays(&self) -> Vec<(u64, &str)>;

    /// The type of an array's cells.
    ///
    /// # Errors
    /// There is no such array.
    fn element(&self, array: u64) -> Result<ElementType, String>;

    /// Why two arrays cannot be compared, where they cannot.
    fn unlike(&self, pair: [u64; 2]) -> Option<String>;

    /// Whether it is known which ghost cells are stale.
    fn is_checked(&self) -> bool;

    /// What each component of some numbers is like.
    ///
    /// # Errors
    /// It is not known.
    fn values(&mut self, array: u64, numbers: &Numbers) -> Result<Vec<Values>, Self::Error>;

    /// The smallest magnitude of a component that is no NaN.
    ///
    /// # Errors
    /// It is not known.
    fn least(&mut self, array: u64, numbers: &Numbers, component: usize) -> Result<Option<f64>, Self::Error>;

    /// The exact sum of a component, or of all, rounded once.
    ///
    /// # Errors
    /// It is not known.
    fn sum(&mut self, array: u64, numbers: &Numbers, component: Option<usize>) -> Result<f64, Self::Error>;

    /// Whether all cells of two arrays have the same bits.
    ///
    /// # Errors
    /// It is not known.
    fn same(&mut self, pair: [u64; 2]) -> Result<bool, Self::Error>;

    /// On how many sides of chunks the ghost cells are so.
    ///
    /// # Errors
    /// It is not known.
    fn sides(&mut self, array: u64, state: GhostState) -> Result<u64, Self::Error>;
}

/// What a component is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Values {
    /// How many NaNs there are.
    pub nans: u64,
    /// How many infinities.
    pub infinities: u64,
    /// The smallest and the largest number that is no NaN, infinities included.
    pub extremes: Option<(f64, f64)>,
}
