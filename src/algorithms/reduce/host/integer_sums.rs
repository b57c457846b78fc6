//! Sums of blocks of integers and of their products, in vectors of 64-bit integers.

use super::blocks::BLOCK;
use crate::algorithms::vector_loop::{VectorLoop, run_vectorized};

/// Sum of terms that fits in 64 bits.
struct NarrowSum<I>(I);

impl<I: Iterator<Item = i64>> VectorLoop for NarrowSum<I> {
    type Output = i64;

    #[inline(always)]
    fn run(self) -> i64 {
        self.0.sum()
    }
}

/// Separate sums of the lower and the upper halves of 64-bit terms.
struct HalfSums<I>(I);

impl<I: Iterator<Item = (u64, i64)>> VectorLoop for HalfSums<I> {
    type Output = (u64, i64);

    #[inline(always)]
    fn run(self) -> (u64, i64) {
        self.0.fold((0, 0), |(lower, upper), (low, high)| (lower + low, upper + high))
    }
}

/// Sum of up to [`BLOCK`] terms of at most 48 bits.
pub(crate) fn narrow_sum(terms: impl Iterator<Item = i64>) -> i128 {
    run_vectorized(NarrowSum(terms)).into()
}

/// Sum of up to [`BLOCK`] terms of 64 bits, given as their lower and upper 32 bits.
pub(crate) fn wide_sum(terms: impl Iterator<Item = (u64, i64)>) -> i128 {
    const { assert!(BLOCK < 1 << 31) };
    let (lower, upper) = run_vectorized(HalfSums(terms));
    i128::from(lower) + (i128::from(upper) << 32)
}

#[inline(always)]
pub(crate) fn signed_halves(number: i64) -> (u64, i64) {
    (number as u64 & 0xffff_ffff, number >> 32)
}

#[inline(always)]
pub(crate) fn unsigned_halves(number: u64) -> (u64, i64) {
    (number & 0xffff_ffff, (number >> 32) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_of_block_of_extreme_integers_does_not_overflow() {
        for number in [i64::MIN, -1, 0, 1, i64::MAX, 0x1234_5678_9abc_def0] {
            let block = [number; BLOCK];
            let terms = || block.iter().copied();
            assert_eq!(wide_sum(terms().map(signed_halves)), i128::from(number) * BLOCK as i128);
            let unsigned = terms().map(|number| unsigned_halves(number as u64));
            assert_eq!(wide_sum(unsigned), i128::from(number as u64) * BLOCK as i128);
            assert_eq!(narrow_sum(terms().map(|number| number >> 16)), i128::from(number >> 16) * BLOCK as i128);
        }
        assert_eq!(wide_sum([i64::MAX, i64::MIN, -7].into_iter().map(signed_halves)), -8);
    }
}
