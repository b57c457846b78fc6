//! [`Bins`]: histogram counts.

use zippy_protocol::{Component, ScalarValue};

use crate::imaging::Values;

/// Counts of numbers in bins of equal width.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bins {
    /// Lower end of the first bin and upper end of the last bin.
    pub range: (ScalarValue, ScalarValue),
    pub counts: Vec<u64>,
}

impl From<&Component> for Bins {
    fn from(component: &Component) -> Self {
        let (low, high) = component.range;
        let known = low.is_finite() && high.is_finite() && low <= high;
        let range = if known { (low, high) } else { (0.0.into(), 0.0.into()) };
        Self { range, counts: component.bins.clone() }
    }
}

impl Bins {
    /// Counts the finite numbers of a view in `count` bins. `None` if no number is finite.
    pub(super) fn of(values: &Values, count: usize) -> Option<Self> {
        let finite = || values.scalars().filter(|value| value.is_finite());
        let low = finite().reduce(ScalarValue::min)?;
        let high = finite().reduce(ScalarValue::max)?;
        let mut counts = vec![0; count.max(1)];
        let last = counts.len() - 1;
        let width = high.minus(low);
        for value in finite() {
            let share = if width > 0.0 && width.is_finite() { value.minus(low) / width } else { 0.0 };
            counts[((share * count as f64) as usize).min(last)] += 1;
        }
        Some(Self { range: (low, high), counts })
    }
}

#[cfg(test)]
mod tests {
    use zippy_protocol::{ArrayRef, ViewRequest};

    use super::*;
    use crate::imaging::Integers;

    /// A one-dimensional view of `numbers`.
    fn line(numbers: &[f64]) -> Values {
        let of = ViewRequest {
            array: ArrayRef { rank: None, number: 0 },
            chunk: None,
            start: vec![0],
            end: vec![numbers.len() as i64],
            stride: vec![1],
            numbers: None,
        };
        Values { of, step: 1, extents: vec![numbers.len() as i64], numbers: numbers.into(), integers: Integers::None }
    }

    #[test]
    fn every_finite_number_is_in_a_bin() {
        let bins = |numbers: &[f64], count| Bins::of(&line(numbers), count);
        let numbers = [0.0, 1.0, 1.9, 4.0, f64::NAN, f64::INFINITY];
        assert_eq!(bins(&numbers, 4), Some(Bins { range: (0.0.into(), 4.0.into()), counts: vec![1, 2, 0, 1] }));
        assert_eq!(bins(&[7.0; 3], 2), Some(Bins { range: (7.0.into(), 7.0.into()), counts: vec![3, 0] }));
        assert_eq!(bins(&[f64::NAN], 2), None);
        let wide = Values { integers: Integers::Wide(vec![1 << 62, (1 << 62) + 3]), ..line(&[0.0, 0.0]) };
        assert_eq!(Bins::of(&wide, 2).unwrap().counts, [1, 1]);
    }
}
