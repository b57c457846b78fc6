//! [`Total`]: partial exact sums, as words that are added over ranks.

use super::exact::ExactSum;

/// Partial exact sum. The element-wise sums of the words of several partial sums are the words of
/// their total.
pub trait Total: Default + Send {
    /// Type of the result.
    type Sum;

    /// Adds `digit` · 2^`exponent`.
    fn add_digit(&mut self, digit: i64, exponent: i32);
    /// Adds counts of numbers that are not finite: NaNs, +infinities, −infinities.
    fn add_specials(&mut self, counts: [u64; 3]);
    fn merge(&mut self, other: &Self);
    /// Words of the partial sum.
    fn into_words(self) -> Vec<i64>;
    /// Partial sum represented by words.
    fn from_words(words: &[i64]) -> Self;
    /// Final value of the sum.
    fn finish(self) -> Self::Sum;
    /// Final value, rounded to `f64`.
    fn into_f64(self) -> f64;
}

impl Total for ExactSum {
    type Sum = f64;

    fn add_digit(&mut self, digit: i64, exponent: i32) {
        self.add_scaled(u128::from(digit.unsigned_abs()), exponent, digit < 0);
    }

    fn add_specials(&mut self, [nans, plus, minus]: [u64; 3]) {
        self.add_specials(nans, plus, minus);
    }

    fn into_words(self) -> Vec<i64> {
        self.into_words()
    }

    fn from_words(words: &[i64]) -> Self {
        Self::from_words(words)
    }

    fn merge(&mut self, other: &Self) {
        self.merge(other);
    }

    fn finish(self) -> f64 {
        self.into_f64()
    }

    fn into_f64(self) -> f64 {
        self.into_f64()
    }
}

/// Integer sum: below 2^127 in magnitude for every array with a 64-bit number of cells.
#[derive(Debug, Clone, Default)]
pub struct Integer(i128);

impl Integer {
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
        // The highest word has the sign; the others have spare bits for the sum over ranks.
        (0..4).map(|word| if word == 3 { self.0 >> 96 } else { self.0 >> (32 * word) & 0xffff_ffff } as i64).collect()
    }

    fn from_words(words: &[i64]) -> Self {
        Self((0..).zip(words).map(|(word, &digit)| i128::from(digit) << (32 * word)).sum())
    }

    fn merge(&mut self, other: &Self) {
        self.0 += other.0;
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
    fn added_words_of_integers_represent_their_sum() {
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
