//! Minimum and maximum of blocks of numbers.

use std::ops::RangeInclusive;

use super::super::number::Number;
use crate::algorithms::vector_loop::{VectorLoop, run_vectorized};

/// Minimum, maximum and count of the numbers within a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extrema<K> {
    pub min: K,
    pub max: K,
    pub numbers: usize,
}

struct AllExtrema<'a, S>(&'a [S]);

impl<S: Number> VectorLoop for AllExtrema<'_, S> {
    type Output = (S::Ordered, S::Ordered);

    #[inline(always)]
    fn run(self) -> Self::Output {
        let first = self.0[0].ordered();
        self.0.iter().fold((first, first), |(min, max), number| {
            let key = number.ordered();
            (min.min(key), max.max(key))
        })
    }
}

struct ExtremaWithin<'a, S: Number> {
    numbers: &'a [S],
    low: S::Ordered,
    high: S::Ordered,
}

impl<S: Number> VectorLoop for ExtremaWithin<'_, S> {
    type Output = Extrema<S::Ordered>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { numbers, low, high } = self;
        let mut extrema = Extrema { min: high, max: low, numbers: 0 };
        for number in numbers {
            let key = number.ordered();
            let within = low <= key && key <= high;
            extrema.min = extrema.min.min(if within { key } else { high });
            extrema.max = extrema.max.max(if within { key } else { low });
            extrema.numbers += usize::from(within);
        }
        extrema
    }
}

/// Minimum and maximum of the numbers of a nonempty block within a range.
pub(crate) fn extrema_within<S: Number>(numbers: &[S], range: &RangeInclusive<S::Ordered>) -> Extrema<S::Ordered> {
    let (min, max) = run_vectorized(AllExtrema(numbers));
    // NaNs have keys beyond those of infinities.
    if range.contains(&min) && range.contains(&max) {
        return Extrema { min, max, numbers: numbers.len() };
    }
    run_vectorized(ExtremaWithin { numbers, low: *range.start(), high: *range.end() })
}
