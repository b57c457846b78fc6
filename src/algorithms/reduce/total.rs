//! Sums in the making: exact, in words that add up over the ranks.

use super::exact::ExactSum;

/// An exact sum that grows. Its words, added over the ranks, are the words of the sum over the ranks.
pub trait Total: Default {
    /// What it ends as.
    type Sum;

    /// Adds `digit` · 2^`exponent`.
    fn add_digit(&mut self, digit: i64, exponent: i32);
    /// Books numbers that are not finite: NaNs, +infinities, −infinities.
    fn add_specials(&mut self, counts: [u64; 3]);
    /// Words whose element-wise sum over ranks is that of the total.
    fn into_words(self) -> Vec<i64>;
    /// The total of summed words.
    fn from_words(words: &[i64]) -> Self;
    /// The result.
    fn finish(self) -> Self::Sum;
    /// The result, rounded where an `f64` has not as many digits.
    fn into_f64(self) -> f64;
}

/// Bits of a mantissa's lower part.
const LOW_BITS: u32 = 26;

/// A sum of floating-point numbers. Mantissas are added up by their exponents, which is quick, and rarely moved into the
/// exact sum.
#[derive(Debug, Clone, Default)]
pub struct Float {
    exact: ExactSum,
    /// Both halves of the mantissas for every exponent, once there are numbers.
    bins: Vec<[i64; 2]>,
    /// How many were added since the bins were empty.
    added: u64,
}

impl Float {
    /// Adds a number.
    pub fn add(&mut self, value: f64) {
        // Halves have up to 27 bits.
        if self.added & ((1 << 36) - 1) == 0 {
            self.settle();
            self.bins.resize(2047, [0; 2]);
        }
        self.added += 1;
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as usize;
        let mantissa = (bits & ((1 << 52) - 1) | u64::from(exponent != 0) << 52) as i64;
        let sign = bits as i64 >> 63;
        match self.bins.get_mut(exponent) {
            Some([low, high]) => {
                *low += ((mantissa & ((1 << LOW_BITS) - 1)) ^ sign) - sign;
                *high += ((mantissa >> LOW_BITS) ^ sign) - sign;
            }
            None => self.exact.add(value),
        }
    }

    /// Adds the product of two numbers, not rounded.
    pub fn add_product(&mut self, a: f64, b: f64) {
        self.exact.add_product(a, b);
    }

    /// Moves the bins into the exact sum.
    fn settle(&mut self) {
        for (exponent, halves) in std::mem::take(&mut self.bins).into_iter().enumerate() {
            let lowest = exponent.max(1) as i32 - 1075;
            for (half, place) in halves.into_iter().zip([lowest, lowest + LOW_BITS as i32]) {
                self.exact.add_scaled(u128::from(half.unsigned_abs()), place, half < 0);
            }
        }
    }

    /// The exact sum.
    pub fn settled(mut self) -> ExactSum {
        self.settle();
        self.exact
    }
}

impl Total for Float {
    type Sum = f64;

    fn add_digit(&mut self, digit: i64, exponent: i32) {
        self.exact.add_scaled(u128::from(digit.unsigned_abs()), exponent, digit < 0);
    }

    fn add_specials(&mut self, [nans, plus, minus]: [u64; 3]) {
        self.exact.add_specials(nans, plus, minus);
    }

    fn into_words(self) -> Vec<i64> {
        self.settled().into_words()
    }

    fn from_words(words: &[i64]) -> Self {
        Self { exact: ExactSum::from_words(words), ..Self::default() }
    }

    fn finish(self) -> f64 {
        self.settled().into_f64()
    }

    fn into_f64(self) -> f64 {
        self.finish()
    }
}

/// A sum of integers: below 2^127 for every array whose cells a 64-bit number counts.
#[derive(Debug, Clone, Default)]
pub struct Integer(i128);

impl Integer {
    /// Adds a number.
    pub fn add(&mut self, value: i128) {
        self.0 += value;
    }
}

impl Total for Integer {
    type Sum = i128;

    fn add_digit(&mut self, digit: i64, exponent: i32) {
        self.0 += i128::from(digit) << exponent;
    }

    fn add_specials(&mut self, _counts: [u64; 3]) {}

    fn into_words(self) -> Vec<i64> {
        // The highest keeps the sign; the others leave room for the ranks.
        (0..4).map(|word| if word == 3 { self.0 >> 96 } else { self.0 >> (32 * word) & 0xffff_ffff } as i64).collect()
    }

    fn from_words(words: &[i64]) -> Self {
        Self((0..).zip(words).map(|(word, &digit)| i128::from(digit) << (32 * word)).sum())
    }

    fn finish(self) -> i128 {
        self.0
    }

    fn into_f64(self) -> f64 {
        self.0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_add_up_to_the_exact_sum() {
        let mut state = 7_u64;
        let (mut quick, mut exact) = (Float::default(), ExactSum::default());
        for at in 0..50_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(if at % 5 == 0 { state & !(0x7ff << 52) } else { state });
            if value.is_finite() {
                quick.add(value);
                exact.add(value);
            }
        }
        assert_eq!(quick.clone().settled().into_words(), exact.clone().into_words());
        quick.add(f64::NEG_INFINITY);
        assert_eq!(quick.finish(), f64::NEG_INFINITY);
    }

    #[test]
    fn words_of_integers_add_up() {
        let values = [i128::MAX / 3, -1, i128::MIN / 2, 1 << 96, -(1 << 70), 12_345_678_901_234_567_890];
        let mut words = [0_i64; 4];
        for value in values {
            words.iter_mut().zip(Integer(value).into_words()).for_each(|(sum, word)| *sum += word);
        }
        assert_eq!(Integer::from_words(&words).finish(), values.iter().sum());
        let mut digits = Integer::default();
        digits.add_digit(-3, 64);
        digits.add_digit(5, 0);
        assert_eq!(digits.finish(), 5 - (3 << 64));
    }
}
