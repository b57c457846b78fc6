//! [`ExactSum`]: sum of floating-point numbers and of products of two, rounded once at the end.
//!
//! A number is an integer times a power of two. The sum is one long integer with 32-bit digits in
//! 64-bit words, so that additions need no carry and their order does not matter. This is Kulisch's
//! accumulator; sums have the same bits for every decomposition.

/// Exponent of the lowest bit: below that of the smallest product of two `f64`, 2^-2148.
const LOWEST_EXPONENT: i32 = -2176;
/// Number of 32-bit digits, enough for 2^64 times the largest product of two `f64`, 2^2048.
const DIGITS: usize = 136;
/// Maximum number of additions to a digit between two carries.
const MAX_ADDITIONS_BEFORE_CARRY: u32 = 1 << 30;

/// Exact sum of floating-point numbers. Infinities and NaNs are counted separately.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactSum {
    digits: [i64; DIGITS],
    additions: u32,
    nans: u64,
    infinities: [u64; 2],
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { digits: [0; DIGITS], additions: 0, nans: 0, infinities: [0; 2] }
    }
}

/// Splits a finite number into mantissa, exponent and sign: ± mantissa · 2^exponent.
fn split_float(value: f64) -> (u64, i32, bool) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    (mantissa, exponent, value.is_sign_negative())
}

impl ExactSum {
    /// Length of the result of [`into_words`](Self::into_words).
    pub const WORDS: usize = DIGITS + 3;

    /// Adds a number.
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return self.add_special(value);
        }
        let (mantissa, exponent, negative) = split_float(value);
        let position = (exponent - LOWEST_EXPONENT) as usize;
        let shifted = u128::from(mantissa) << (position % 32);
        let sign = -i64::from(negative);
        // 53 bits shifted by up to 31 take three digits.
        let digits = &mut self.digits[position / 32..position / 32 + 3];
        for (digit, part) in digits.iter_mut().zip([shifted as u32, (shifted >> 32) as u32, (shifted >> 64) as u32]) {
            *digit += (i64::from(part) ^ sign) - sign;
        }
        self.count_addition();
    }

    fn count_addition(&mut self) {
        self.additions += 1;
        if self.additions >= MAX_ADDITIONS_BEFORE_CARRY {
            self.propagate_carries();
        }
    }

    /// Adds the exact product of two numbers.
    pub fn add_product(&mut self, a: f64, b: f64) {
        if a.is_finite() && b.is_finite() {
            let ((ma, ea, na), (mb, eb, nb)) = (split_float(a), split_float(b));
            self.add_scaled(u128::from(ma) * u128::from(mb), ea + eb, na != nb);
        } else {
            self.add_special(a * b);
        }
    }

    /// Adds an infinity or a NaN.
    fn add_special(&mut self, value: f64) {
        if value.is_nan() {
            self.nans += 1;
        } else {
            self.infinities[usize::from(value < 0.0)] += 1;
        }
    }

    /// Adds counts of NaNs and infinities.
    pub fn add_specials(&mut self, nans: u64, plus_infinities: u64, minus_infinities: u64) {
        self.nans += nans;
        self.infinities[0] += plus_infinities;
        self.infinities[1] += minus_infinities;
    }

    /// Adds ± mantissa · 2^exponent.
    pub fn add_scaled(&mut self, mantissa: u128, exponent: i32, negative: bool) {
        if mantissa == 0 {
            return;
        }
        let position = (exponent - LOWEST_EXPONENT) as usize;
        let (digit, shift) = (position / 32, position % 32);
        // 128 bits shifted by up to 31 take five digits.
        let low = mantissa << shift;
        let high = if shift == 0 { 0 } else { mantissa >> (128 - shift) };
        for (index, part) in [low & 0xffff_ffff, low >> 32 & 0xffff_ffff, low >> 64 & 0xffff_ffff, low >> 96, high]
            .into_iter()
            .enumerate()
        {
            if part != 0 {
                self.digits[digit + index] += if negative { -(part as i64) } else { part as i64 };
            }
        }
        self.count_addition();
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        self.propagate_carries();
        let mut other = other.clone();
        other.propagate_carries();
        self.digits.iter_mut().zip(other.digits).for_each(|(mine, theirs)| *mine += theirs);
        self.additions = 2;
        self.add_specials(other.nans, other.infinities[0], other.infinities[1]);
    }

    /// Propagates carries, so that all digits except the highest are in `0..2^32`.
    fn propagate_carries(&mut self) {
        for digit in 0..DIGITS - 1 {
            let carry = self.digits[digit] >> 32;
            self.digits[digit] -= carry << 32;
            self.digits[digit + 1] += carry;
        }
        self.additions = 1;
    }

    /// Words of the sum. The element-wise sums of the words of several sums are the words of their
    /// total; see [`from_words`](Self::from_words).
    pub fn into_words(mut self) -> Vec<i64> {
        self.propagate_carries();
        let mut words = self.digits.to_vec();
        words.extend([self.nans as i64, self.infinities[0] as i64, self.infinities[1] as i64]);
        words
    }

    /// Sum represented by words.
    pub fn from_words(words: &[i64]) -> Self {
        let mut sum = Self::default();
        sum.digits.copy_from_slice(&words[..DIGITS]);
        sum.nans = words[DIGITS] as u64;
        sum.infinities = [words[DIGITS + 1] as u64, words[DIGITS + 2] as u64];
        sum.propagate_carries();
        sum
    }

    /// Sum rounded once to the nearest `f64`, ties to even.
    pub fn into_f64(self) -> f64 {
        self.rounded(|_| 0)
    }

    /// Square root of the sum, rounded twice: the sum to 53 bits at any exponent, then the root.
    pub fn into_sqrt(self) -> f64 {
        let mut half = 0;
        // Scaling to the neighbourhood of 1 avoids overflow and subnormal numbers, and halving an
        // even exponent is exact.
        let scaled = self.rounded(|exponent| {
            half = -exponent / 2;
            2 * half
        });
        scale(scaled.sqrt(), -half)
    }

    /// Sum times 2^`by(exponent)`, rounded once; `exponent` is the approximate exponent of the sum.
    fn rounded(mut self, by: impl FnOnce(i32) -> i32) -> f64 {
        match (self.nans, self.infinities) {
            (0, [0, 0]) => {}
            (0, [_, 0]) => return f64::INFINITY,
            (0, [0, _]) => return f64::NEG_INFINITY,
            _ => return f64::NAN,
        }
        self.propagate_carries();
        let negative = self.digits[DIGITS - 1] < 0;
        if negative {
            self.digits.iter_mut().for_each(|digit| *digit = -*digit);
            self.propagate_carries();
        }
        let Some(top) = self.digits.iter().rposition(|&digit| digit != 0) else { return 0.0 };
        // At least the highest 96 bits: the 53 bits of the result, its rounding bit and further
        // bits. Lower bits become one sticky bit.
        let digit = |index: usize| if index <= top { self.digits[top - index] as u128 } else { 0 };
        let mut head = (digit(0) << 64) | (digit(1) << 32) | digit(2);
        if self.digits[..top.saturating_sub(2)].iter().any(|&d| d != 0) {
            head |= 1;
        }
        let exponent = LOWEST_EXPONENT + 32 * (top as i32 - 2);
        let magnitude = round(head, exponent + by(exponent + 64));
        if negative { -magnitude } else { magnitude }
    }
}

/// Rounds `head · 2^exponent` to the nearest `f64`, ties to even. The lowest bit of `head` may be a
/// sticky bit far below the last bit of the result.
fn round(head: u128, exponent: i32) -> f64 {
    let bits = 128 - head.leading_zeros() as i32;
    // Exponent of the last bit of the result: 53 bits for normal numbers, 2^-1074 for subnormal
    // ones.
    let last = (exponent + bits - 53).max(-1074);
    let drop = last - exponent;
    let kept = if drop <= 0 {
        (head << -drop.max(-127)) as u64
    } else if drop >= 128 {
        0
    } else {
        let (kept, rest, half) = (head >> drop, head & ((1 << drop) - 1), 1_u128 << (drop - 1));
        (kept + u128::from(rest > half || (rest == half && kept & 1 == 1))) as u64
    };
    scale(kept as f64, last)
}

/// Computes `value · 2^exponent` in exact steps: `value` is an integer of up to 54 bits, and the
/// result a multiple of 2^-1074 or an overflow.
fn scale(value: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    value * 2_f64.powi(half) * 2_f64.powi(exponent - half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact_sum(values: &[f64]) -> f64 {
        let mut sum = ExactSum::default();
        values.iter().for_each(|&value| sum.add(value));
        sum.into_f64()
    }

    #[test]
    fn sum_with_cancellation_is_exact() {
        assert_eq!(exact_sum(&[1e300, 1.0, -1e300]), 1.0);
        assert_eq!(exact_sum(&[f64::MAX, f64::MIN_POSITIVE, -f64::MAX]), f64::MIN_POSITIVE);
        assert_eq!(exact_sum(&[5e-324, 5e-324, -5e-324]), 5e-324);
        assert_eq!(exact_sum(&[]), 0.0);
        assert_eq!(exact_sum(&[-2.5, 1.0]), -1.5);
        assert_eq!(exact_sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(exact_sum(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(exact_sum(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(exact_sum(&[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn square_root_of_sum_beyond_f64_is_correct() {
        let root = |values: &[f64]| {
            let mut sum = ExactSum::default();
            values.iter().for_each(|&value| sum.add_product(value, value));
            sum.into_sqrt()
        };
        assert_eq!(root(&[3.0, 4.0]), 5.0);
        assert_eq!(root(&[3e300, 4e300]), 5e300);
        assert_eq!(root(&[3.0 * 5e-324, 4.0 * 5e-324]), 5.0 * 5e-324);
        assert_eq!(root(&[3.0 * 2_f64.powi(-700), 4.0 * 2_f64.powi(-700)]), 5.0 * 2_f64.powi(-700));
        assert_eq!(root(&[f64::MAX; 4]), f64::INFINITY);
        assert_eq!(root(&[f64::MAX]), f64::MAX);
        assert_eq!(root(&[]), 0.0);
        assert_eq!(root(&[f64::NEG_INFINITY]), f64::INFINITY);
        assert!(root(&[f64::NAN]).is_nan());
    }

    #[test]
    fn sum_is_rounded_once_to_nearest_even() {
        let ulp = f64::EPSILON;
        assert_eq!(exact_sum(&[1.0, ulp / 2.0]), 1.0, "a tie goes to even");
        assert_eq!(exact_sum(&[1.0 + ulp, ulp / 2.0]), 1.0 + 2.0 * ulp);
        assert_eq!(exact_sum(&[1.0, ulp / 2.0, 1e-300]), 1.0 + ulp, "a tie and a little more goes up");
        assert_eq!(exact_sum(&[1.0, ulp / 2.0, -1e-300]), 1.0);
    }

    #[test]
    fn sum_of_one_number_or_product_is_exact() {
        let mut random = zippy_testing::random::LinearCongruential::new(1);
        for _ in 0..20_000 {
            let state = random.next_u64();
            let value = f64::from_bits(state);
            if value.is_finite() {
                assert_eq!(exact_sum(&[value]).to_bits(), if value == 0.0 { 0 } else { value.to_bits() });
                let mut product = ExactSum::default();
                let other = f64::from_bits(state.rotate_left(23)).clamp(-1e3, 1e3);
                if other.is_finite() {
                    product.add_product(value, other);
                    assert_eq!(product.into_f64(), value * other, "{value:e} {other:e}");
                }
            }
        }
    }

    #[test]
    fn sum_is_independent_of_order_and_grouping() {
        let values: Vec<f64> = (0..1000).map(|n| (f64::from(n) * 0.7).sin() * 10_f64.powi(n % 60 - 30)).collect();
        let forward = exact_sum(&values);
        let mut words = vec![0_i64; ExactSum::WORDS];
        for part in values.rchunks(7) {
            let mut sum = ExactSum::default();
            part.iter().for_each(|&value| sum.add(value));
            words.iter_mut().zip(sum.into_words()).for_each(|(total, word)| *total += word);
        }
        assert_eq!(ExactSum::from_words(&words).into_f64().to_bits(), forward.to_bits());
        let mut merged = ExactSum::default();
        for part in values.chunks(13) {
            let mut sum = ExactSum::default();
            part.iter().for_each(|&value| sum.add(value));
            merged.merge(&sum);
        }
        assert_eq!(merged.into_f64().to_bits(), forward.to_bits());
    }
}
