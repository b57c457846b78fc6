//! [`ScalarValue`]: exact value of a number of any element type.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// Minimum magnitude of floating-point numbers with an exponent; smaller numbers than [`MIN_PLAIN`]
/// also have one.
const MIN_EXPONENT: f64 = 1e16;
const MIN_PLAIN: f64 = 1e-4;
/// Maximum magnitude of integers that an `f64` represents exactly.
const MAX_EXACT: u128 = 1 << 53;

/// Exact value of a number of any element type. Integers and floating-point numbers compare by
/// value.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub enum ScalarValue {
    /// Number of an integer type.
    Integer(i128),
    /// Number of a floating-point type.
    Float(f64),
}

use ScalarValue::{Float, Integer};

impl From<f64> for ScalarValue {
    fn from(value: f64) -> Self {
        Float(value)
    }
}

impl From<i128> for ScalarValue {
    fn from(value: i128) -> Self {
        Integer(value)
    }
}

impl PartialEq for ScalarValue {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for ScalarValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (*self, *other) {
            (Integer(first), Integer(other)) => Some(first.cmp(&other)),
            (Float(first), Float(other)) => first.partial_cmp(&other),
            (Integer(first), Float(other)) => compare_integer_with_float(first, other),
            (Float(first), Integer(other)) => compare_integer_with_float(other, first).map(Ordering::reverse),
        }
    }
}

/// Compares an integer with a float, without rounding.
fn compare_integer_with_float(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // The conversion saturates.
    let whole = float.floor();
    let order = integer.cmp(&(whole as i128));
    Some(order.then(if float > whole { Ordering::Less } else { Ordering::Equal }))
}

impl ScalarValue {
    /// Value as `f64`, rounded if necessary.
    pub fn to_f64(self) -> f64 {
        match self {
            Integer(value) => value as f64,
            Float(value) => value,
        }
    }

    /// True for numbers that are neither NaN nor infinite.
    pub fn is_finite(self) -> bool {
        self.to_f64().is_finite()
    }

    /// True for NaN.
    pub fn is_nan(self) -> bool {
        self.to_f64().is_nan()
    }

    /// Smaller of two numbers; the other number if one is NaN.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        if other < self || self.is_nan() { other } else { self }
    }

    /// Larger of two numbers; the other number if one is NaN.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if other > self || self.is_nan() { other } else { self }
    }

    /// Absolute value.
    #[must_use]
    pub fn abs(self) -> Self {
        match self {
            Integer(value) => Integer(value.saturating_abs()),
            Float(value) => Float(value.abs()),
        }
    }

    /// Number with the opposite sign.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Integer(value) => Integer(value.saturating_neg()),
            Float(value) => Float(-value),
        }
    }

    /// Difference of two numbers. The difference of two integers is rounded once, after the
    /// subtraction.
    pub fn minus(self, other: Self) -> f64 {
        match (self, other) {
            (Integer(first), Integer(other)) => first.saturating_sub(other) as f64,
            (first, other) => first.to_f64() - other.to_f64(),
        }
    }

    /// Sum of the number and an offset; an integer if an `f64` has no room for a fraction.
    #[must_use]
    pub fn plus(self, offset: f64) -> Self {
        match self {
            Float(value) => Float(value + offset),
            Integer(value) if value.unsigned_abs() < MAX_EXACT && offset.abs() < MAX_EXACT as f64 => {
                let sum = value as f64 + offset;
                if sum.fract() == 0.0 { Integer(sum as i128) } else { Float(sum) }
            }
            Integer(value) => Integer(value.saturating_add(offset.round() as i128)),
        }
    }

    /// Parses a number. A text of at most 38 digits becomes an exact integer.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let integer = text.parse::<i128>().ok().map(Integer);
        integer.or_else(|| text.parse::<f64>().ok().map(Float))
    }

    /// Shortest texts that parse to the same two numbers; as `f32` if both are `f32` numbers.
    /// Different numbers have different texts.
    pub fn pair(low: Self, high: Self) -> (String, String) {
        let is_single = [low, high].into_iter().all(Self::is_single);
        let text = |value: Self| match value {
            Float(value) => digits(value, is_single),
            Integer(value) => value.to_string(),
        };
        (text(low), text(high))
    }

    /// True for integers and for numbers that an `f32` represents.
    fn is_single(self) -> bool {
        match self {
            Float(value) => f64::from(value as f32) == value,
            Integer(_) => true,
        }
    }
}

impl Display for ScalarValue {
    /// Integers are exact. Other numbers have the shortest text that parses to the same number (as
    /// `f32` if an `f32` represents it), with an exponent if they are very large or small.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Integer(value) => write!(f, "{value}"),
            Float(value) => f.write_str(&digits(value, self.is_single())),
        }
    }
}

fn digits(value: f64, is_single: bool) -> String {
    let size = value.abs();
    let plain = size == 0.0 || !value.is_finite() || (MIN_PLAIN..MIN_EXPONENT).contains(&size);
    match (plain, is_single) {
        // The shortest digits of a large integer may end in wrong zeros.
        (true, _) if value.fract() == 0.0 => format!("{value}"),
        (true, true) => format!("{}", value as f32),
        (true, false) => format!("{value}"),
        (false, true) => format!("{:e}", value as f32),
        (false, false) => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_floats_compare_by_value() {
        let two_63 = 9_223_372_036_854_775_808.0;
        let rising = [
            Float(f64::NEG_INFINITY),
            Float(-1e300),
            Integer(i64::MIN.into()),
            Integer(i128::from(i64::MIN) + 1),
            Float(-0.5),
            Integer(0),
            Float(0.25),
            Integer(1),
            Integer(i64::MAX.into()),
            Float(two_63),
            Integer(i128::from(i64::MAX) + 2),
            Integer(u64::MAX.into()),
            Float(f64::INFINITY),
        ];
        for (index, first) in rising.iter().enumerate() {
            for (other_index, other) in rising.iter().enumerate() {
                assert_eq!(first.partial_cmp(other), Some(index.cmp(&other_index)), "{first} {other}");
            }
            assert_eq!(first.partial_cmp(&Float(f64::NAN)), None);
        }
        assert_eq!(Integer(i128::from(i64::MAX) + 1), Float(two_63));
        assert_eq!((Float(-0.0), Integer(7)), (Integer(0), Float(7.0)));
    }

    #[test]
    fn texts_parse_to_the_same_number() {
        let cases = [
            (Integer(4_294_966_272), "4294966272"),
            (Integer(i64::MIN.into()), "-9223372036854775808"),
            (Integer(u64::MAX.into()), "18446744073709551615"),
            (Float(4_294_966_272.0), "4294966272"),
            (Float(16_777_216.0), "16777216"),
            (Float(f64::from(0.1_f32)), "0.1"),
            (Float(101_325.000_25), "101325.00025"),
            (Float(0.0), "0"),
            (Float(1e-45_f32.into()), "1e-45"),
            (Float(f32::MAX.into()), "3.4028235e38"),
            (Float(f64::MIN_POSITIVE), "2.2250738585072014e-308"),
            (Float(-1e16), "-1e16"),
            (Float(9_007_199_254_740_991.0), "9007199254740991"),
            (Float(f64::INFINITY), "inf"),
        ];
        for (value, text) in cases {
            assert_eq!(value.to_string(), text);
        }
        for text in ["9223372036854775807", "-12", "0.5", "-1e-5"] {
            assert_eq!(ScalarValue::parse(text).unwrap().to_string().parse::<f64>(), text.parse::<f64>());
        }
        assert_eq!(ScalarValue::parse("9223372036854775807"), Some(Integer(i64::MAX.into())));
        assert_eq!(ScalarValue::parse("1x"), None);
    }

    #[test]
    fn different_numbers_have_different_texts() {
        let single = f64::from(0.1_f32);
        for (low, high) in
            [(single, single.next_up()), (0.1, single), (1.0, 1.0_f64.next_up()), (1e300, 1e300_f64.next_up())]
        {
            let (first, other) = ScalarValue::pair(Float(low), Float(high));
            assert!(first != other, "{first} {other}");
            assert_eq!((first.parse(), other.parse()), (Ok(low), Ok(high)));
        }
        let ends = ScalarValue::pair(Integer(i128::from(u64::MAX) - 1), Integer(u64::MAX.into()));
        assert_eq!(ends, ("18446744073709551614".into(), "18446744073709551615".into()));
    }

    #[test]
    fn differences_of_integers_are_exact() {
        let (low, high) = (Integer(i64::MIN.into()), Integer(i64::MAX.into()));
        assert_eq!(Integer(i128::from(i64::MIN) + 3).minus(low), 3.0);
        assert_eq!(high.minus(Integer(i128::from(i64::MAX) - 1)), 1.0);
        assert_eq!((low.plus(7.4), Integer(3).plus(0.5)), (Integer(i128::from(i64::MIN) + 7), Float(3.5)));
        assert_eq!(Integer(3).plus(2.0), Integer(5));
    }
}
