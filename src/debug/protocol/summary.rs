//! [`Summary`]: what the numbers of an array are like, without the numbers.

use serde::{Deserialize, Serialize};

use super::ArrayRef;

/// Asks for a summary of all cells of an array, without ghost cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryRequest {
    /// Which.
    pub array: ArrayRef,
    /// Which numbers of a cell: the place in [`ElementType::numbers`](super::ElementType).
    pub numbers: u16,
    /// Bins of the histogram; 0 for none, at most 1024.
    pub bins: u16,
    /// From where to where the bins go; from the smallest to the largest finite number where it is not said.
    pub range: Option<(f64, f64)>,
}

/// What the numbers are like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Which array.
    pub array: ArrayRef,
    /// Which numbers of a cell.
    pub numbers: u16,
    /// At which debug point.
    pub step: u64,
    /// Its components.
    pub components: Vec<Component>,
}

/// One component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// How many numbers there are, NaNs and infinities included.
    pub count: u64,
    /// NaNs among them.
    pub nans: u64,
    /// Infinities of both signs.
    pub infinities: u64,
    /// The smallest finite number and the largest, rounded to `f64`; none where there is no finite one.
    pub extremes: Option<(f64, f64)>,
    /// Where the bins begin and end.
    pub range: (f64, f64),
    /// Numbers in each bin.
    pub bins: Vec<u64>,
    /// Finite or infinite numbers below and above all bins.
    pub outside: (u64, u64),
}

/// Where two arrays differ, by their bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// How many cells differ.
    pub cells: u64,
    /// The first of them, axis 0 fastest.
    pub first: Option<Vec<i64>>,
}
