//! Logarithms.
//!
//! `x = 2^e · (1 + f)` with `1 + f` between √½ and √2, and with `s = f / (2 + f)`
//! `ln(1 + f) = 2 atanh(s) = f − s · (f − r(s²))`.

use super::exponential::{LN_2_HIGH, LN_2_LOW};
use super::lane::{Float, Integer, Operations};

/// Bits of √½.
const SQRT_HALF: i32 = 0x3f35_04f3;
/// Mask of the stored bits of a significand.
const SIGNIFICAND: i32 = 0x007f_ffff;
/// Bits of 1.
const ONE: i32 = 127 << 23;
const INFINITY: i32 = 0x7f80_0000;

/// `2^exponent · significand`
#[derive(Clone, Copy)]
pub(super) struct SplitFloat<O: Operations> {
    pub exponent: Float<O>,
    /// Between √½ and √2.
    pub significand: Float<O>,
}

/// Exponent and significand of a positive finite number; any finite values for other numbers.
#[inline(always)]
pub(super) fn split<O: Operations>(x: Float<O>) -> SplitFloat<O> {
    let subnormal = x.is_below(f32::MIN_POSITIVE);
    let normal = subnormal.select(x * 8_388_608.0, x);
    let from_sqrt_half = normal.to_bits() - subnormal.choose(SQRT_HALF + (23 << 23), SQRT_HALF);
    SplitFloat { exponent: from_sqrt_half.shift_right_signed(23).to_float(), significand: significand(from_sqrt_half) }
}

#[inline(always)]
fn significand<O: Operations>(from_sqrt_half: Integer<O>) -> Float<O> {
    ((from_sqrt_half & SIGNIFICAND) + SQRT_HALF).to_float_bits()
}

/// f − ln(1 + f)
#[inline(always)]
fn ln_deficit<O: Operations>(f: Float<O>) -> Float<O> {
    let s = f / (f + 2.0);
    let z = s * s;
    s * (f - z * z.polynomial([0.666_667_76, 0.399_775_83, 0.298_708_3]))
}

/// Replaces the result for operands that are not positive and finite.
#[inline(always)]
fn with_special_cases<O: Operations>(x: Float<O>, result: Float<O>) -> Float<O> {
    // Bits from 1 to those of the largest finite number, as one comparison of signed integers.
    let regular = (x.to_bits() + i32::MAX).is_below(INFINITY - 1 + i32::MIN);
    let undefined = x.is_below(0.0).select(x.constant(f32::NAN), x);
    let special = x.equals(0.0).select(x.constant(f32::NEG_INFINITY), undefined);
    regular.select(result, special)
}

/// Natural logarithm.
#[inline(always)]
pub(super) fn log<O: Operations>(x: Float<O>) -> Float<O> {
    let SplitFloat { exponent, significand } = split(x);
    let f = significand - 1.0;
    let low = ln_deficit(f) - exponent * LN_2_LOW;
    with_special_cases(x, exponent * LN_2_HIGH + (f - low))
}

/// Logarithm to base 2.
#[inline(always)]
pub(super) fn log2<O: Operations>(x: Float<O>) -> Float<O> {
    let SplitFloat { exponent, significand } = split(x);
    let f = significand - 1.0;
    let ln = f - ln_deficit(f);
    with_special_cases(x, exponent + ln * std::f32::consts::LOG2_E)
}

/// ln(1 + x) + `doublings` · ln 2 for x from 0 to 2¹²⁷ or infinite; precise near 0.
#[inline(always)]
pub(super) fn log_1p<O: Operations>(x: Float<O>, doublings: Float<O>) -> Float<O> {
    let sum = x + 1.0;
    // Rounding error of the sum.
    let lost = x - (sum - 1.0);
    let from_sqrt_half = sum.to_bits() - SQRT_HALF;
    let exponent = from_sqrt_half.shift_right_signed(23);
    let inverse_power = (exponent.constant(ONE) - exponent.shift_left(23)).to_float_bits();
    let exponent = exponent.to_float() + doublings;
    let f = significand(from_sqrt_half) - 1.0 + lost * inverse_power;
    let low = ln_deficit(f) - exponent * LN_2_LOW;
    let result = exponent * LN_2_HIGH + (f - low);
    sum.is_below(f32::INFINITY).select(result, x)
}
