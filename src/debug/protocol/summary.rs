//! [`Summary`]: what the numbers of an array are like, without the numbers.

use serde::{Deserialize, Serialize};

use super::{ArrayRef, ElementType, Numbers, ScalarValue, lists};

/// The most bins of a histogram.
pub const MOST_BINS: u16 = 1024;
/// The most percentiles that are asked for together.
pub const MOST_PERCENTILES: usize = 16;

/// Asks for a summary of all cells of an array, without ghost cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SummaryRequest {
    /// Which.
    pub array: ArrayRef,
    /// Which numbers of a cell: the place in [`ElementType::numbers`](super::ElementType).
    pub numbers: u16,
    /// Whether they are taken together, as the length of a vector; else each component by itself.
    pub length: bool,
    /// Bins of the histogram; 0 for none, at most 1024.
    pub bins: u16,
    /// From where to where the bins go; from the smallest to the largest finite number where it is not said.
    pub range: Option<(f64, f64)>,
    /// Percentiles, 0 to 100 and at most [`MOST_PERCENTILES`].
    #[serde(deserialize_with = "lists::list")]
    pub percentiles: Vec<f64>,
    /// Only numbers above 0 count for extremes, range, bins and percentiles, as logarithms need it.
    pub positive: bool,
}

impl SummaryRequest {
    /// Counts and extremes alone.
    pub fn of(array: ArrayRef, numbers: u16) -> Self {
        Self { array, numbers, length: false, bins: 0, range: None, percentiles: Vec::new(), positive: false }
    }

    /// The numbers that it is of, in cells of this type.
    ///
    /// # Errors
    /// What is wrong with it.
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

/// What the numbers are like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Which array.
    pub array: ArrayRef,
    /// Which numbers of a cell.
    pub numbers: u16,
    /// Whether it is of their length.
    pub length: bool,
    /// At which debug point.
    pub step: u64,
    /// Its components; of lengths one.
    #[serde(deserialize_with = "lists::list")]
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
    /// The smallest finite number and the largest; none where there is no finite one.
    pub extremes: Option<(ScalarValue, ScalarValue)>,
    /// Where the bins begin and end.
    pub range: (ScalarValue, ScalarValue),
    /// Numbers in each bin.
    #[serde(deserialize_with = "lists::list")]
    pub bins: Vec<u64>,
    /// Finite or infinite numbers below and above all bins.
    pub outside: (u64, u64),
    /// The percentiles that were asked for, in their order; none where there is no finite number. Each is one of the finite
    /// numbers, exact: this percentage of the others lies below it.
    #[serde(deserialize_with = "lists::list")]
    pub percentiles: Vec<ScalarValue>,
}

/// Where two arrays differ, by their bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// How many cells differ.
    pub cells: u64,
    /// The first of them, axis 0 fastest.
    #[serde(deserialize_with = "lists::optional")]
    pub first: Option<Vec<i64>>,
}
