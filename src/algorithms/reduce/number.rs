//! Traits of types that can be reduced: scalars, and vectors component by component.

use half::f16;

use super::exact::ExactSum;
use super::format::{Format, Load, Order};
use super::host::{
    BLOCK, add_float_products, add_floats, narrow_sum, signed_halves, unsigned_halves, wide_sum, widened, widened_block,
};
use super::total::{Integer, Total};
use crate::element::Element;

/// A scalar that can be reduced: `f32`, `f16`, `f64`, and integers of 8 to 64 bits.
pub trait Number: Element + PartialOrd + std::fmt::Debug + sealed::Number {
    /// The type of exact sums: `i128` for integers, `f64` for floating-point numbers.
    type Sum: Copy + PartialEq + std::fmt::Debug + Send;
    #[doc(hidden)]
    type Total: Total<Sum = Self::Sum>;
    #[doc(hidden)]
    const FORMAT: Option<Format>;

    /// Integers in the order of the numbers, −0 before +0; NaNs lie before and after all numbers.
    #[doc(hidden)]
    type Ordered: Ord + Copy + Send + Sync;

    #[doc(hidden)]
    const LEAST: Self;
    #[doc(hidden)]
    const MOST: Self;

    /// Adds numbers.
    #[doc(hidden)]
    fn add_all(numbers: &[Self], total: &mut Self::Total);
    #[doc(hidden)]
    fn ordered(self) -> Self::Ordered;
    /// Key of a number in its [`ordered`](Self::ordered) form.
    #[doc(hidden)]
    fn key_of(ordered: Self::Ordered) -> u64;
    /// Rank of the number in the ascending order of all numbers, −0 before +0; `None` for a NaN.
    #[doc(hidden)]
    fn key(self) -> Option<u64>;
    /// Number with a [`key`](Self::key).
    #[doc(hidden)]
    fn from_key(key: u64) -> Self;
    /// Number with a [`device_key`](Self::device_key).
    #[doc(hidden)]
    fn from_device_key(key: u32) -> Self;
    /// 32-bit key of the number in kernels, for types that kernels load.
    #[doc(hidden)]
    fn device_key(self) -> u32;
    /// The `i`-th of the `n + 1` edges of equal bins from `low` to `high`, both included.
    #[doc(hidden)]
    fn edge(low: Self, high: Self, i: usize, n: usize) -> Self;
    /// A NaN, if the type has one.
    #[doc(hidden)]
    fn nan() -> Option<Self>;
    /// Number rounded to `f64`.
    #[doc(hidden)]
    fn to_f64(self) -> f64;
    /// Nearest finite number of this type to `value`, which is not a NaN.
    #[doc(hidden)]
    fn nearest(value: f64) -> Self;

    /// The number, which is not a NaN, with −0 replaced by +0.
    #[doc(hidden)]
    fn with_one_zero(self) -> Self {
        if self == Self::zeroed() { Self::zeroed() } else { self }
    }

    /// Next smaller number; `None` for the smallest one.
    #[doc(hidden)]
    fn next_below(self) -> Option<Self> {
        let key = self.key()?;
        (1..=2).filter_map(|step| at_key(key.checked_sub(step)?)).find(|below: &Self| *below < self)
    }

    /// Next larger number; `None` for the largest one.
    #[doc(hidden)]
    fn next_above(self) -> Option<Self> {
        let key = self.key()?;
        (1..=2).filter_map(|step| at_key(key.checked_add(step)?)).find(|above: &Self| *above > self)
    }
}

/// Number with a key, if there is one.
fn at_key<S: Number>(key: u64) -> Option<S> {
    Some(S::from_key(key)).filter(|number| number.key() == Some(key))
}

/// [`Number`] whose products add up without overflow: all types except `i64` and `u64`.
pub trait Factor: Number {
    #[doc(hidden)]
    fn add_products(a: &[Self], b: &[Self], total: &mut Self::Total);
}

/// Element that can be reduced: a [`Number`], or a vector of numbers, reduced component by
/// component.
pub trait Reducible: Element + sealed::Reducible {
    /// Type of a component.
    type Scalar: Number;
    /// Result per component: `U` for scalars, `[U; N]` for vectors.
    type Each<U>;
    /// Number of components.
    const COMPONENTS: usize;
    #[doc(hidden)]
    fn each<U>(component_result: impl FnMut(usize) -> U) -> Self::Each<U>;
}

mod sealed {
    pub trait Number {}
    pub trait Reducible {}
}

/// Sign bit: flipping it maps the order of signed integers to that of unsigned ones.
const SIGN: u64 = 1 << 63;

const fn format(load: Load, order: Order) -> Option<Format> {
    Some(Format { load, order })
}

macro_rules! integers {
    ($($ty:ty: $format:expr, $key:expr, $from:expr, $device:expr, $sum:expr;)*) => {$(
        impl sealed::Number for $ty {}
        impl Number for $ty {
            type Sum = i128;
            type Total = Integer;
            type Ordered = Self;
            const LEAST: Self = Self::MIN;
            const MOST: Self = Self::MAX;
            const FORMAT: Option<Format> = $format;

            fn add_all(numbers: &[Self], total: &mut Integer) {
                numbers.chunks(BLOCK).for_each(|block| total.add($sum(block)));
            }
            #[inline(always)]
            fn ordered(self) -> Self {
                self
            }
            fn key_of(ordered: Self) -> u64 {
                $key(ordered)
            }
            fn key(self) -> Option<u64> {
                Some($key(self))
            }
            fn from_key(key: u64) -> Self {
                $from(key)
            }
            fn from_device_key(key: u32) -> Self {
                $device(key)
            }
            fn device_key(self) -> u32 {
                (self as i64 as u32) ^ if <$ty>::MIN == 0 { 0 } else { 1 << 31 }
            }
            fn edge(low: Self, high: Self, i: usize, n: usize) -> Self {
                // Widths differ by at most one, and the last edge is `high` itself.
                let (low, high) = (low as i128, high as i128);
                let steps = (high - low + 1) * i as i128;
                (low + (steps + n as i128 - 1) / n as i128).min(high) as $ty
            }
            fn nan() -> Option<Self> {
                None
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn nearest(value: f64) -> Self {
                value.round() as $ty
            }
        }
    )*};
}

macro_rules! factors {
    ($($ty:ty, $product:ty, $sum:ident, $term:expr;)*) => {$(
        impl Factor for $ty {
            fn add_products(a: &[Self], b: &[Self], total: &mut Integer) {
                for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
                    let products = a.iter().zip(b).map(|(&a, &b)| <$product>::from(a) * <$product>::from(b));
                    total.add($sum(products.map($term)));
                }
            }
        }
    )*};
}
factors! {
    u8, u32, narrow_sum, i64::from;
    u16, u32, narrow_sum, i64::from;
    i8, i32, narrow_sum, i64::from;
    i16, i32, narrow_sum, i64::from;
    u32, u64, wide_sum, unsigned_halves;
    i32, i64, wide_sum, signed_halves;
}
impl Factor for f16 {
    fn add_products(a: &[Self], b: &[Self], total: &mut ExactSum) {
        for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
            let [wide_a, wide_b] = [a, b].map(widened_block);
            add_float_products(&wide_a[..a.len()], &wide_b[..b.len()], total);
        }
    }
}
impl Factor for f32 {
    fn add_products(a: &[Self], b: &[Self], total: &mut ExactSum) {
        add_float_products(a, b, total);
    }
}
impl Factor for f64 {
    fn add_products(a: &[Self], b: &[Self], total: &mut ExactSum) {
        add_float_products(a, b, total);
    }
}

/// Sum of a block of integers of at most 32 bits.
fn sum_narrow<T: Copy + Into<i64>>(block: &[T]) -> i128 {
    narrow_sum(block.iter().map(|&number| number.into()))
}

fn signed_key(value: i64) -> u64 {
    value as u64 ^ SIGN
}

fn signed_from_device_key(key: u32) -> i32 {
    (key ^ 1 << 31) as i32
}

integers! {
    u8: format(Load::U8, Order::Unsigned), u64::from, |key| key as u8, |key| key as u8, sum_narrow;
    u16: format(Load::U16, Order::Unsigned), u64::from, |key| key as u16, |key| key as u16, sum_narrow;
    u32: format(Load::Word, Order::Unsigned), u64::from, |key| key as u32, |key| key, sum_narrow;
    u64: None, |value| value, |key| key, u64::from, |block: &[u64]| wide_sum(block.iter().copied().map(unsigned_halves));
    i8: format(Load::I8, Order::Signed), |v| signed_key(i64::from(v)),
        |k| (k ^ SIGN) as i8, |k| signed_from_device_key(k) as i8, sum_narrow;
    i16: format(Load::I16, Order::Signed), |v| signed_key(i64::from(v)),
        |k| (k ^ SIGN) as i16, |k| signed_from_device_key(k) as i16, sum_narrow;
    i32: format(Load::Word, Order::Signed), |v| signed_key(i64::from(v)),
        |k| (k ^ SIGN) as i32, signed_from_device_key, sum_narrow;
    i64: None, signed_key, |k| (k ^ SIGN) as i64, |k| i64::from(signed_from_device_key(k)),
        |block: &[i64]| wide_sum(block.iter().copied().map(signed_halves));
}

macro_rules! floats {
    ($($ty:ty, $bits:ty, $ordered:ty, $format:expr, $to_f64:expr, $from_f64:expr, $device:expr, $add:expr;)*) => {$(
        impl sealed::Number for $ty {}
        impl Number for $ty {
            type Sum = f64;
            type Total = ExactSum;
            type Ordered = $ordered;
            const LEAST: Self = Self::NEG_INFINITY;
            const MOST: Self = Self::INFINITY;
            const FORMAT: Option<Format> = $format;

            fn add_all(numbers: &[Self], total: &mut ExactSum) {
                $add(numbers, total);
            }
            #[inline(always)]
            fn ordered(self) -> $ordered {
                let bits = self.to_bits() as $ordered;
                // Negative numbers ascend with descending magnitudes.
                bits ^ (bits >> (<$ordered>::BITS - 1) & <$ordered>::MAX)
            }
            fn key_of(ordered: $ordered) -> u64 {
                (ordered as $bits ^ 1 << (<$bits>::BITS - 1)).into()
            }
            fn key(self) -> Option<u64> {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let bits = self.to_bits();
                let key = if bits & SIGN == 0 { bits | SIGN } else { !bits };
                (!self.is_nan()).then_some(key as u64)
            }
            fn from_key(key: u64) -> Self {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let key = key as $bits;
                Self::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN })
            }
            fn from_device_key(key: u32) -> Self {
                $device(<f32 as Number>::from_key(key.into()))
            }
            fn device_key(self) -> u32 {
                ($to_f64(self) as f32).key().unwrap_or(u64::MAX) as u32
            }
            fn edge(low: Self, high: Self, i: usize, n: usize) -> Self {
                let part = i as f64 / n as f64;
                let edge = $to_f64(low) * (1.0 - part) + $to_f64(high) * part;
                if i == n { high } else { $from_f64(edge) }
            }
            fn nan() -> Option<Self> {
                Some(Self::NAN)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                $to_f64(self)
            }
            fn nearest(value: f64) -> Self {
                $from_f64(value.clamp($to_f64(Self::MIN), $to_f64(Self::MAX)))
            }
        }
    )*};
}

floats! {
    f16, u16, i16, format(Load::F16, Order::Float), |value| f64::from(widened(value)), f16::from_f64, f16::from_f32, add_halves;
    f32, u32, i32, format(Load::Word, Order::Float), f64::from, |value| value as f32, |value| value, add_floats;
    f64, u64, i64, None, |value| value, |value| value, f64::from, add_floats;
}

fn add_halves(numbers: &[f16], total: &mut ExactSum) {
    for block in numbers.chunks(BLOCK) {
        add_floats(&widened_block(block)[..block.len()], total);
    }
}

macro_rules! scalars {
    ($($ty:ty)*) => {$(
        impl sealed::Reducible for $ty {}
        impl Reducible for $ty {
            type Scalar = $ty;
            type Each<U> = U;
            const COMPONENTS: usize = 1;
            fn each<U>(mut component_result: impl FnMut(usize) -> U) -> U {
                component_result(0)
            }
        }
    )*};
}
scalars!(u8 u16 u32 u64 i8 i16 i32 i64 f16 f32 f64);

macro_rules! vectors {
    ($($ty:ty, $n:literal;)*) => {$(
        impl sealed::Reducible for [$ty; $n] {}
        impl Reducible for [$ty; $n] {
            type Scalar = $ty;
            type Each<U> = [U; $n];
            const COMPONENTS: usize = $n;
            fn each<U>(component_result: impl FnMut(usize) -> U) -> [U; $n] {
                std::array::from_fn(component_result)
            }
        }
    )*};
}
vectors! { f32, 2; f32, 4; i32, 2; i32, 4; u32, 2; u32, 4; f16, 2; f16, 4; }

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered<T: Number + std::fmt::Debug>(rising: &[T]) {
        let keys: Vec<u64> = rising.iter().map(|&value| value.key().unwrap()).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{rising:?}: {keys:x?}");
        for (&value, &key) in rising.iter().zip(&keys) {
            assert_eq!(T::from_key(key), value);
        }
    }

    #[test]
    fn keys_ascend_with_numbers() {
        ordered(&[i8::MIN, -1, 0, 1, i8::MAX]);
        ordered(&[i16::MIN, -300, 0, 1, i16::MAX]);
        ordered(&[i32::MIN, -70_000, -1, 0, i32::MAX]);
        ordered(&[i64::MIN, -1 << 40, -1, 0, i64::MAX]);
        ordered(&[0, 1, u8::MAX]);
        ordered(&[0, u64::MAX / 2, u64::MAX]);
        let tiny = f32::from_bits(1);
        ordered(&[f32::NEG_INFINITY, f32::MIN, -1.0, -tiny, -0.0, 0.0, tiny, 1.0, f32::MAX, f32::INFINITY]);
        ordered(&[f64::NEG_INFINITY, -1e300, -0.0, 0.0, 5e-324, 1.0, f64::INFINITY]);
        ordered(&[f16::NEG_INFINITY, f16::MIN, f16::NEG_ZERO, f16::ZERO, f16::from_bits(1), f16::MAX]);
        assert!(f32::NAN.key().is_none() && f64::NAN.key().is_none() && f16::NAN.key().is_none());
    }

    #[test]
    fn nearest_number_to_large_value_is_finite() {
        assert_eq!([-1e9, -0.4, 0.6, 254.5, 1e9].map(u8::nearest), [0, 0, 1, 255, 255]);
        assert_eq!([f64::MIN, -2.5, f64::MAX].map(i64::nearest), [i64::MIN, -3, i64::MAX]);
        assert_eq!([-1.0, f64::INFINITY].map(u64::nearest), [0, u64::MAX]);
        assert_eq!([-1e300, 0.1, f64::INFINITY].map(f32::nearest), [f32::MIN, 0.1, f32::MAX]);
        assert_eq!([f64::NEG_INFINITY, 1e-30, 65_519.0].map(f16::nearest), [f16::MIN, f16::ZERO, f16::MAX]);
        assert_eq!(f64::nearest(f64::NEG_INFINITY), f64::MIN);
        assert_eq!((i8::MIN.to_f64(), f16::MAX.to_f64(), u64::MAX.to_f64()), (-128.0, 65_504.0, 2_f64.powi(64)));
    }
}
