//! [`Range`]: ends of a colour range.

use std::cmp::Ordering;

use zippy_protocol::{Component, ScalarValue};

use super::norm::Norm;

/// Rule for the ends of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Smallest and largest finite number.
    Extremes,
    /// Two percentiles of the finite numbers, 0 to 100.
    Percentile(f64, f64),
    /// Symmetric about 0, up to the largest magnitude.
    Symmetric,
    /// Fixed ends.
    Fixed(ScalarValue, ScalarValue),
}

impl Range {
    /// Parses `min:max` or `extremes`, percentiles such as `p1:p99`, `symmetric`, or two numbers
    /// such as `-0.5:2`.
    ///
    /// # Errors
    /// The text is no range.
    pub fn parse(text: &str) -> Result<Self, String> {
        let invalid = |why: &str| {
            let ways = "min:max, p1:p99 by percentiles, symmetric about 0, or two numbers as -0.5:2";
            Err(format!("`{text}` is no range{why}; there are {ways}"))
        };
        match text {
            "min:max" | "minmax" | "extremes" => return Ok(Self::Extremes),
            "symmetric" => return Ok(Self::Symmetric),
            _ => {}
        }
        let Some((low, high)) = text.split_once(':') else { return invalid("") };
        let percent = |end: &str| end.strip_prefix('p').and_then(|end| end.parse::<f64>().ok());
        if let (Some(low), Some(high)) = (percent(low), percent(high)) {
            return if (0.0..=100.0).contains(&low) && (low..=100.0).contains(&high) {
                Ok(Self::Percentile(low, high))
            } else {
                invalid(": percentiles rise from 0 to 100")
            };
        }
        match (ScalarValue::parse(low), ScalarValue::parse(high)) {
            (Some(low), Some(high)) if low.is_finite() && high.is_finite() && low <= high => Ok(Self::Fixed(low, high)),
            (Some(_), Some(_)) => invalid(": its ends are finite and rise"),
            _ => invalid(""),
        }
    }

    /// Returns the ends of the range for a list of numbers. A logarithmic norm uses numbers above 0
    /// only. `None` if the list has no such number.
    pub fn of<N: Into<ScalarValue>>(
        &self,
        numbers: impl Iterator<Item = N> + Clone,
        norm: Norm,
    ) -> Option<(ScalarValue, ScalarValue)> {
        let fits = |value: &ScalarValue| value.is_finite() && (norm != Norm::Log || *value > 0.0.into());
        let fitting = || numbers.clone().map(N::into).filter(fits);
        let extremes = || {
            let mut numbers = fitting();
            let first = numbers.next()?;
            Some(numbers.fold((first, first), |(low, high), value| (low.min(value), high.max(value))))
        };
        match *self {
            Self::Fixed(low, high) => Some((low, high)),
            Self::Extremes => extremes(),
            Self::Symmetric => extremes().map(|(low, high)| symmetric_ends(low, high, norm)),
            Self::Percentile(low, high) => {
                let mut sorted: Vec<ScalarValue> = fitting().collect();
                let last = sorted.len().checked_sub(1)?;
                let mut nearest = |percent: f64| {
                    let index = (percent / 100.0 * last as f64).round() as usize;
                    let order = |a: &ScalarValue, b: &ScalarValue| a.partial_cmp(b).unwrap_or(Ordering::Equal);
                    *sorted.select_nth_unstable_by(index.min(last), order).1
                };
                Some((nearest(low), nearest(high)))
            }
        }
    }

    /// Returns the ends of the range for a whole array from its summary. For percentiles, the
    /// summary must contain exactly the two percentiles of the range. For a logarithmic norm, the
    /// summary must be of the numbers above 0. `None` if the summary has no finite number.
    pub fn of_summary(&self, component: &Component, norm: Norm) -> Option<(ScalarValue, ScalarValue)> {
        let ends = match *self {
            Self::Fixed(low, high) => return Some((low, high)),
            Self::Extremes => component.extremes?,
            Self::Symmetric => component.extremes.map(|(low, high)| symmetric_ends(low, high, norm))?,
            Self::Percentile(..) => match component.percentiles[..] {
                [low, high] if low <= high => (low, high),
                _ => component.extremes?,
            },
        };
        (norm != Norm::Log || ends.0 > 0.0.into()).then_some(ends)
    }
}

fn symmetric_ends(low: ScalarValue, high: ScalarValue, norm: Norm) -> (ScalarValue, ScalarValue) {
    let size = low.abs().max(high.abs());
    // Numbers below 0 have no logarithm.
    if norm == Norm::Log { (low, size) } else { (size.negated(), size) }
}
