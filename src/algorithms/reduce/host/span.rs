//! [`Span`]: range of the bits of floating-point numbers.

use crate::algorithms::vector_loop::{VectorLoop, run_vectorized};

/// Range of the bits of finite numbers that are not all zero: every number is smaller in magnitude
/// than 2^`top` and a multiple of 2^`unit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub top: i32,
    pub unit: i32,
}

/// Kind of a block of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    Zeros,
    Finite(Span),
    /// At least one infinity or NaN.
    NotFinite,
}

impl Span {
    /// Span of the products of numbers within two spans.
    pub(crate) fn product(self, other: Self) -> Self {
        Self { top: self.top + other.top, unit: self.unit + other.unit }
    }
}

/// Floating-point number of 32 or 64 bits.
pub(crate) trait BinaryFloat: Copy {
    const ZERO: Self;
    const FRACTION: u32;
    /// Number of fraction bits in a [`head`](Self::head).
    const HEAD_FRACTION: u32;
    const BIAS: i32;

    /// Exponent and highest fraction bits; zero only for the number zero.
    fn head(self) -> u32;
    fn widened(self) -> f64;
}

impl BinaryFloat for f32 {
    const ZERO: Self = 0.0;
    const FRACTION: u32 = 23;
    const HEAD_FRACTION: u32 = 23;
    const BIAS: i32 = 127;

    #[inline(always)]
    fn head(self) -> u32 {
        self.to_bits() & !(1 << 31)
    }
    #[inline(always)]
    fn widened(self) -> f64 {
        self.into()
    }
}

impl BinaryFloat for f64 {
    const ZERO: Self = 0.0;
    const FRACTION: u32 = 52;
    const HEAD_FRACTION: u32 = 20;
    const BIAS: i32 = 1023;

    #[inline(always)]
    fn head(self) -> u32 {
        let bits = self.to_bits();
        (bits >> 32) as u32 & !(1 << 31) | u32::from(bits as u32 != 0)
    }
    #[inline(always)]
    fn widened(self) -> f64 {
        self
    }
}

/// Largest head of some numbers, and one less than their smallest nonzero head.
struct Heads<'a, F>(&'a [F]);

impl<F: BinaryFloat> VectorLoop for Heads<'_, F> {
    type Output = (u32, u32);

    #[inline(always)]
    fn run(self) -> (u32, u32) {
        let (mut largest, mut below_smallest) = (0, u32::MAX);
        for number in self.0 {
            let head = number.head();
            largest = largest.max(head);
            below_smallest = below_smallest.min(head.wrapping_sub(1));
        }
        (largest, below_smallest)
    }
}

/// Classifies a block of numbers.
pub(super) fn classify_block<F: BinaryFloat>(numbers: &[F]) -> BlockKind {
    let (largest, below_smallest) = run_vectorized(Heads(numbers));
    if largest == 0 {
        return BlockKind::Zeros;
    }
    let [most, least] = [largest, below_smallest + 1].map(|head| (head >> F::HEAD_FRACTION) as i32);
    if most > 2 * F::BIAS {
        return BlockKind::NotFinite;
    }
    // Subnormal numbers have the exponent of the smallest normal ones.
    let exponent = |biased: i32| biased.max(1) - F::BIAS;
    BlockKind::Finite(Span { top: exponent(most) + 1, unit: exponent(least) - F::FRACTION as i32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_cover_the_bits_of_numbers() {
        assert_eq!(classify_block::<f32>(&[]), BlockKind::Zeros);
        assert_eq!(classify_block(&[0.0, -0.0_f64]), BlockKind::Zeros);
        assert_eq!(classify_block(&[1.0_f32, 0.0, -7.9]), BlockKind::Finite(Span { top: 3, unit: -23 }));
        assert_eq!(classify_block(&[f32::MAX, f32::from_bits(1)]), BlockKind::Finite(Span { top: 128, unit: -149 }));
        assert_eq!(classify_block(&[f64::MAX, -5e-324]), BlockKind::Finite(Span { top: 1024, unit: -1074 }));
        assert_eq!(classify_block(&[-5e-324, 0.0]), BlockKind::Finite(Span { top: -1021, unit: -1074 }));
        assert_eq!(classify_block(&[f64::MIN_POSITIVE]), BlockKind::Finite(Span { top: -1021, unit: -1074 }));
        for special in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001)] {
            assert_eq!(classify_block(&[1.0, special]), BlockKind::NotFinite);
            assert_eq!(classify_block(&[0.5, special as f32]), BlockKind::NotFinite);
        }
    }
}
