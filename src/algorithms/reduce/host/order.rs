//! Minimum and maximum of blocks of numbers.

use std::ops::RangeInclusive;

use super::super::number::Number;
use crate::algorithms::vector_loop::{VectorLoop, run_vectorized};

/// Minimum and maximum of the numbers within a range, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extrema<K> {
    pub min: K,
    pub max: K,
    pub numbers: usize,
}

/// Minimum and maximum of all numbers of a block, which is not empty.
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

/// Minimum and maximum of the numbers within a range.
struct EndsWithin<'a, S: Number> {
    numbers: &'a [S],
    low: S::Ordered,
    high: S::Ordered,
}

impl<S: Number> VectorLoop for EndsWithin<'_, S> {
    type Output = Extrema<S::Ordered>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { numbers, low, high } = self;
        let mut ends = Extrema { min: high, max: low, numbers: 0 };
        for number in numbers {
            let key = number.ordered();
            let within = low <= key && key <= high;
            ends.min = ends.min.min(if within { key } else { high });
            ends.max = ends.max.max(if within { key } else { low });
            ends.numbers += usize::from(within);
        }
        ends
    }
}

/// Minimum and maximum of the numbers within a range of keys, for a block that is not empty.
pub(crate) fn ends<S: Number>(numbers: &[S], range: &RangeInclusive<S::Ordered>) -> Extrema<S::Ordered> {
    let (min, max) = run_vectorized(AllExtrema(numbers));
    // NaNs have keys beyond those of infinities.
    if range.contains(&min) && range.contains(&max) {
        return Extrema { min, max, numbers: numbers.len() };
    }
    run_vectorized(EndsWithin { numbers, low: *range.start(), high: *range.end() })
}
