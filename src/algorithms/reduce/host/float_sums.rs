//! Exact sums of blocks of floating-point numbers and of their products, by integers in vectors.
//!
//! Numbers below 2^t in magnitude, each added to 1.5 · 2^(t + 1), are rounded to multiples of
//! 2^(t - 51). The sums lie in one binade, so that their bits are integers, and integers add up
//! without rounding in any order. The remainders of the rounding are exact, and at most 2^(t - 52):
//! they are added in the same way, level by level, until a level's unit divides all numbers.

use half::f16;

use super::super::exact::ExactSum;
use super::blocks::BLOCK;
use super::span::{BinaryFloat, BlockKind, Span, classify_block};
use crate::algorithms::vector_loop::{VectorLoop, run_vectorized};

/// Number of bits of a term that each level extracts.
const LEVEL_BITS: i32 = 52;
/// Maximum number of levels, enough for all numbers of type `f32`.
const MAX_LEVELS: i32 = 6;

/// Constant that rounds terms to multiples of 2^`unit` when it is added to them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RoundingAnchor {
    value: f64,
    unit: i32,
}

impl RoundingAnchor {
    /// Anchor of numbers below 2^`top`, which is at most 2^1021. The unit is at least the smallest
    /// `f64`.
    fn of(top: i32) -> Self {
        let top = top.max(-1023);
        let value = 1.5 * f64::from_bits(((top + 1 + 1023) as u64) << 52);
        Self { value, unit: top - 51 }
    }
}

/// Sums of the bits of rounded terms, one per level.
struct LevelSums<const LEVELS: usize, I> {
    anchors: [f64; LEVELS],
    terms: I,
}

impl<const LEVELS: usize, I: Iterator<Item = f64>> VectorLoop for LevelSums<LEVELS, I> {
    type Output = [u64; LEVELS];

    #[inline(always)]
    fn run(self) -> [u64; LEVELS] {
        let mut sums = [0_u64; LEVELS];
        for term in self.terms {
            let mut rest = term;
            for (sum, anchor) in sums.iter_mut().zip(self.anchors) {
                let rounded = rest + anchor;
                *sum = sum.wrapping_add(rounded.to_bits());
                rest -= rounded - anchor;
            }
        }
        sums
    }
}

/// Number of levels for terms within a span; `None` if the span is too wide, or near the largest
/// `f64`.
fn level_count(span: Span) -> Option<i32> {
    // The unit of the last level, 2^(top + 1 - 52 · levels), must not exceed that of the terms.
    let levels = (span.top + 1 - span.unit + LEVEL_BITS - 1) / LEVEL_BITS;
    (levels <= MAX_LEVELS && span.top <= 1021).then_some(levels)
}

/// Adds up to [`BLOCK`] finite terms below 2^`top`, in the given number of levels.
fn add_terms(terms: impl Iterator<Item = f64>, (count, top, levels): (usize, i32, i32), total: &mut ExactSum) {
    fn add<const LEVELS: usize>(terms: impl Iterator<Item = f64>, (count, top): (usize, i32), total: &mut ExactSum) {
        let anchors: [RoundingAnchor; LEVELS] =
            std::array::from_fn(|level| RoundingAnchor::of(top - LEVEL_BITS * level as i32));
        let sums = run_vectorized(LevelSums { anchors: anchors.map(|anchor| anchor.value), terms });
        for (sum, anchor) in sums.into_iter().zip(anchors) {
            // Up to 2^11 terms of at most 2^51 units each.
            let units = sum.wrapping_sub(anchor.value.to_bits().wrapping_mul(count as u64)) as i64;
            total.add_scaled(u128::from(units.unsigned_abs()), anchor.unit, units < 0);
        }
    }
    match levels {
        ..=1 => add::<1>(terms, (count, top), total),
        2 => add::<2>(terms, (count, top), total),
        3 => add::<3>(terms, (count, top), total),
        _ => add::<{ MAX_LEVELS as usize }>(terms, (count, top), total),
    }
}

/// Numbers of a block, with zeros where `keep` is false.
fn select_numbers<F: BinaryFloat>(numbers: &[F], keep: impl Fn(usize) -> bool) -> [F; BLOCK] {
    std::array::from_fn(|i| if i < numbers.len() && keep(i) { numbers[i] } else { F::ZERO })
}

pub(crate) fn add_floats<F: BinaryFloat>(numbers: &[F], total: &mut ExactSum) {
    for block in numbers.chunks(BLOCK) {
        let terms = block.iter().copied().map(F::widened);
        match classify_block(block) {
            BlockKind::Zeros => {}
            BlockKind::Finite(span) => match level_count(span) {
                Some(levels) => add_terms(terms, (block.len(), span.top, levels), total),
                None => terms.for_each(|term| total.add(term)),
            },
            BlockKind::NotFinite => {
                let finite = |i: usize| block[i].widened().is_finite();
                terms.filter(|term| !term.is_finite()).for_each(|term| total.add(term));
                add_floats(&select_numbers(block, finite)[..block.len()], total);
            }
        }
    }
}

/// Floating-point number whose products are added exactly.
pub(crate) trait FloatFactor: BinaryFloat {
    /// Adds the products of finite numbers within two spans. Returns false, without adding, if the
    /// span of the products is too wide.
    fn add_within(a: &[Self], b: &[Self], spans: [Span; 2], total: &mut ExactSum) -> bool;
}

impl FloatFactor for f32 {
    fn add_within(a: &[f32], b: &[f32], [of_a, of_b]: [Span; 2], total: &mut ExactSum) -> bool {
        // The product of two numbers of 24 bits is an f64 number.
        let products = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b));
        let span = of_a.product(of_b);
        let levels = level_count(span);
        levels.inspect(|&levels| add_terms(products, (a.len(), span.top, levels), total)).is_some()
    }
}

impl FloatFactor for f64 {
    fn add_within(a: &[f64], b: &[f64], [of_a, of_b]: [Span; 2], total: &mut ExactSum) -> bool {
        let Span { top, unit } = of_a.product(of_b);
        let subnormal = of_a.unit.min(of_b.unit) <= -1074;
        // Splitting a factor must not overflow, and errors must be f64 numbers.
        if subnormal || unit < -1074 || top > 1022 || of_a.top.max(of_b.top) > 995 {
            return false;
        }
        let (Some(levels), Some(of_errors)) =
            (level_count(Span { top, unit: unit + 52 }), level_count(Span { top: top - 53, unit }))
        else {
            return false;
        };
        let pairs = || a.iter().zip(b);
        add_terms(pairs().map(|(a, b)| a * b), (a.len(), top, levels), total);
        add_terms(pairs().map(|(&a, &b)| product_rounding_error(a, b)), (a.len(), top - 53, of_errors), total);
        true
    }
}

/// Rounding error of a product: `a · b` minus its rounded value; after T. J. Dekker, *A
/// floating-point technique for extending the available precision* (1971).
#[inline(always)]
fn product_rounding_error(a: f64, b: f64) -> f64 {
    let ([a_high, a_low], [b_high, b_low]) = (split_halves(a), split_halves(b));
    a_low * b_low - (((a * b - a_high * b_high) - a_low * b_high) - a_high * b_low)
}

/// Splits a number into two numbers of at most 26 bits with this sum.
#[inline(always)]
fn split_halves(number: f64) -> [f64; 2] {
    let scaled = number * ((1 << 27) + 1) as f64;
    let high = scaled - (scaled - number);
    [high, number - high]
}

/// Adds the products of corresponding numbers.
pub(crate) fn add_float_products<F: FloatFactor>(a: &[F], b: &[F], total: &mut ExactSum) {
    for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
        let of_a = classify_block(a);
        // A norm multiplies numbers by themselves.
        let of_b = if std::ptr::eq(a, b) { of_a } else { classify_block(b) };
        let one_by_one = |total: &mut ExactSum| {
            a.iter().zip(b).for_each(|(a, b)| total.add_product(a.widened(), b.widened()));
        };
        match (of_a, of_b) {
            (BlockKind::Finite(of_a), BlockKind::Finite(of_b)) => {
                if !F::add_within(a, b, [of_a, of_b], total) {
                    one_by_one(total);
                }
            }
            (BlockKind::NotFinite, _) | (_, BlockKind::NotFinite) => {
                let finite = |i: usize| a[i].widened().is_finite() && b[i].widened().is_finite();
                for i in (0..a.len()).filter(|&i| !finite(i)) {
                    total.add_product(a[i].widened(), b[i].widened());
                }
                let [a_finite, b_finite] = [a, b].map(|numbers| select_numbers(numbers, finite));
                add_float_products(&a_finite[..a.len()], &b_finite[..b.len()], total);
            }
            (BlockKind::Zeros, _) | (_, BlockKind::Zeros) => {}
        }
    }
}

/// Converts a half-precision number to `f32`, by operations that the compiler vectorizes.
#[inline(always)]
pub(crate) fn widened(number: f16) -> f32 {
    let bits = u32::from(number.to_bits());
    let magnitude = (bits & 0x7fff) << 13;
    // The exponents have biases 15 and 127; the multiplication normalizes subnormal numbers.
    let finite = f32::from_bits(magnitude) * f32::from_bits((127 + 127 - 15) << 23);
    let magnitude = if bits & 0x7c00 == 0x7c00 { magnitude | 0xff << 23 } else { finite.to_bits() };
    f32::from_bits(magnitude | (bits & 0x8000) << 16)
}

struct Widening<'a>(&'a [f16]);

impl VectorLoop for Widening<'_> {
    type Output = [f32; BLOCK];

    #[inline(always)]
    fn run(self) -> [f32; BLOCK] {
        let mut wide = [0.0; BLOCK];
        wide.iter_mut().zip(self.0).for_each(|(wide, &number)| *wide = widened(number));
        wide
    }
}

/// Converts up to [`BLOCK`] half-precision numbers to `f32`, followed by zeros.
pub(crate) fn widened_block(numbers: &[f16]) -> [f32; BLOCK] {
    run_vectorized(Widening(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zippy_testing::random::LinearCongruential;

    /// Pseudorandom bits.
    fn random(state: &mut LinearCongruential) -> u64 {
        let number = state.next_u64();
        (number ^ number >> 29).wrapping_mul(0xff51_afd7_ed55_8ccd)
    }

    /// Numbers with exponents from `lowest` to `lowest + spread`, and zeros.
    fn numbers(count: usize, lowest: i32, spread: u64) -> Vec<f64> {
        let mut state = LinearCongruential::new(count as u64 ^ spread << 20);
        let number = |_| {
            let bits = random(&mut state);
            let exponent = (i64::from(lowest) + 1023 + (random(&mut state) % spread) as i64).clamp(0, 2046) as u64;
            let number = f64::from_bits(bits & !(0x7ff << 52) | exponent << 52);
            if bits.is_multiple_of(17) { 0.0_f64.copysign(number) } else { number }
        };
        (0..count).map(number).collect()
    }

    fn check_sum<F: BinaryFloat>(numbers: &[F]) {
        let (mut blocks, mut one_by_one) = (ExactSum::default(), ExactSum::default());
        add_floats(numbers, &mut blocks);
        numbers.iter().for_each(|number| one_by_one.add(number.widened()));
        assert_eq!(blocks.into_words(), one_by_one.into_words());
    }

    fn check_products<F: FloatFactor>(a: &[F], b: &[F]) {
        for (a, b) in [(a, b), (a, a)] {
            let (mut blocks, mut one_by_one) = (ExactSum::default(), ExactSum::default());
            add_float_products(a, b, &mut blocks);
            a.iter().zip(b).for_each(|(a, b)| one_by_one.add_product(a.widened(), b.widened()));
            assert_eq!(blocks.into_words(), one_by_one.into_words());
        }
    }

    const COUNTS: [usize; 10] = [0, 1, 2, 3, 63, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 77];
    /// Spreads of exponents that need one level, two, three, six, and more than the maximum.
    const SPREADS: [u64; 8] = [1, 20, 28, 60, 120, 250, 300, 2100];

    #[test]
    fn block_sum_equals_exact_sum_for_all_exponent_spreads() {
        for (count, spread) in COUNTS.into_iter().flat_map(|count| SPREADS.map(|spread| (count, spread))) {
            for lowest in [-1100, -1023, -300, -160, -20, 0, 100, 600, 1000, 1022] {
                let wide = numbers(count, lowest, spread);
                let narrow: Vec<f32> =
                    wide.iter().map(|&number| number as f32).map(|number| number.clamp(f32::MIN, f32::MAX)).collect();
                let others: Vec<f64> = numbers(count, -lowest, spread).into_iter().rev().collect();
                check_sum(&wide);
                check_sum(&narrow);
                check_products(&wide, &others);
                check_products(&narrow, &others.iter().map(|&number| number as f32).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn block_sum_of_ties_between_levels_is_exact() {
        // Ties, and numbers just below powers of two, at every bit of a level.
        for power in -1074..1024 {
            let two = |power: i32| {
                f64::from_bits(if power < -1022 { 1 << (power + 1074) } else { ((power + 1023) as u64) << 52 })
            };
            let (number, below) = (two(power), f64::from_bits(two(power).to_bits() - 1));
            let tie = two((power - 52).max(-1074));
            for sign in [1.0, -1.0] {
                check_sum(&[number * sign, below * sign, tie, -tie * 1.5, below]);
                check_sum(&[below * sign; 2048]);
                check_products(&[number * sign, below * sign, tie, 1.5], &[below, below, 0.75 * sign, tie]);
            }
        }
        check_sum(&[f32::MAX; 2048]);
        check_sum(&[-f32::from_bits(1); 2048]);
        check_sum(&[f64::MAX; 5000]);
        check_products(&[f64::MAX; 100], &[-f64::MAX; 100]);
        check_products(&[f64::from_bits(1); 100], &[f64::from_bits(3); 100]);
    }

    #[test]
    fn blocks_with_infinities_and_nans_are_counted() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        for specials in [vec![inf], vec![-inf, -inf], vec![nan, inf, -nan], vec![nan; 3000]] {
            let mut cells = numbers(5000, -10, 30);
            for (i, &special) in specials.iter().enumerate() {
                cells[i * 7 % 4999] = special;
            }
            let other = numbers(5000, -100, 200);
            let narrow = |cells: &[f64]| cells.iter().map(|&cell| cell as f32).collect::<Vec<_>>();
            check_sum(&cells);
            check_sum(&narrow(&cells));
            check_products(&cells, &other);
            check_products(&other, &cells);
            check_products(&narrow(&cells), &narrow(&other));
        }
    }

    #[test]
    fn widened_half_precision_number_is_equal() {
        let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        for block in all.chunks(1000) {
            for (number, wide) in block.iter().zip(widened_block(block)) {
                let expected = number.to_f32();
                assert!(wide.to_bits() == expected.to_bits() || (wide.is_nan() && expected.is_nan()), "{number:?}");
            }
        }
    }
}
