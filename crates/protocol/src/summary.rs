//! [`Summary`]: statistics of the numbers of an array.

use serde::{Deserialize, Serialize};

use super::{ArrayRef, ElementType, Numbers, ScalarValue, lists};

/// Maximum number of bins of a histogram.
pub const MOST_BINS: u16 = 1024;
/// Maximum number of percentiles in one request.
pub const MOST_PERCENTILES: usize = 16;

/// Request for a summary of all cells of an array, without ghost cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryRequest {
    /// Array to summarize.
    pub array: ArrayRef,
    /// Index of the numbers in [`ElementType::numbers`](super::ElementType).
    pub numbers: u16,
    /// True for the length of the vector; false for each component separately.
    pub length: bool,
    /// Number of bins of the histogram: 0 for none, at most 1024.
    pub bins: u16,
    /// Range of the bins; `None` for the smallest to the largest finite number.
    pub range: Option<(f64, f64)>,
    /// Percentiles, each from 0 to 100, at most [`MOST_PERCENTILES`].
    #[serde(deserialize_with = "lists::list")]
    pub percentiles: Vec<f64>,
    /// Restricts extremes, range, bins and percentiles to numbers above 0, for logarithmic scales.
    pub positive: bool,
}

impl SummaryRequest {
    /// Request for counts and extremes only.
    pub fn of(array: ArrayRef, numbers: u16) -> Self {
        Self { array, numbers, length: false, bins: 0, range: None, percentiles: Vec::new(), positive: false }
    }

    /// Requested numbers in cells of this type.
    ///
    /// # Errors
    /// The request is invalid for this type.
    pub fn of_type<'a>(&self, element: &'a ElementType) -> Result<&'a Numbers, String> {
        let Self { bins, percentiles, .. } = self;
        if *bins > MOST_BINS {
            return Err(format!("a histogram has at most {MOST_BINS} bins, and {bins} were asked for"));
        }
        if let Some((low, high)) = self.range
            && !(low <= high && low.is_finite() && high.is_finite())
        {
            return Err(format!("bins go from a finite number to one that is not below it, not from {low} to {high}"));
        }
        if percentiles.len() > MOST_PERCENTILES {
            let count = percentiles.len();
            return Err(format!(
                "at most {MOST_PERCENTILES} percentiles are found at once, and {count} were asked for"
            ));
        }
        if let Some(percent) = percentiles.iter().find(|percent| !(0.0..=100.0).contains(*percent)) {
            return Err(format!("percentiles go from 0 to 100, and {percent} was asked for"));
        }
        let numbers = element.numbers.get(usize::from(self.numbers)).ok_or_else(|| {
            let (name, count) = (&element.name, element.numbers.len());
            format!(
                "cells of {name} have {count} numbers or vectors, counted from 0, and {} was asked for",
                self.numbers
            )
        })?;
        if self.length && numbers.components < 2 {
            return Err(format!(
                "the numbers {} of {} are no vector, which alone has a length",
                self.numbers, element.name
            ));
        }
        Ok(numbers)
    }
}

/// Statistics of the numbers of an array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Array of the request.
    pub array: ArrayRef,
    /// Index of the numbers in [`ElementType::numbers`](super::ElementType).
    pub numbers: u16,
    /// True for the lengths of vectors.
    pub length: bool,
    /// Number of the debug point.
    pub step: u64,
    /// Statistics of each component; one entry for lengths.
    #[serde(deserialize_with = "lists::list")]
    pub components: Vec<Component>,
}

/// Statistics of one component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// Number of values, with NaNs and infinities.
    pub count: u64,
    /// Number of NaNs.
    pub nans: u64,
    /// Number of infinities of both signs.
    pub infinities: u64,
    /// Smallest and largest finite number; `None` if there is no finite number.
    pub extremes: Option<(ScalarValue, ScalarValue)>,
    /// Range of the bins.
    pub range: (ScalarValue, ScalarValue),
    /// Count of each bin.
    #[serde(deserialize_with = "lists::list")]
    pub bins: Vec<u64>,
    /// Number of finite or infinite values below and above all bins.
    pub outside: (u64, u64),
    /// Requested percentiles, in the order of the request; empty if there is no finite number. Each
    /// is exactly one of the finite numbers: this percentage of the others is below it.
    #[serde(deserialize_with = "lists::list")]
    pub percentiles: Vec<ScalarValue>,
}

/// Difference of two arrays by bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Number of differing cells.
    pub cells: u64,
    /// First differing cell, axis 0 fastest.
    #[serde(deserialize_with = "lists::optional")]
    pub first: Option<Vec<i64>>,
}
