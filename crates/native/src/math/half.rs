//! Half-precision floats in 32-bit operations.

use super::lane::{Float, Integer, Operations};

/// Bits of the smallest normal half as `f32`, 2⁻¹⁴.
const MIN_NORMAL: i32 = 113 << 23;
/// Bits of the exponent of `f32`, all ones in infinity and NaN.
const EXPONENT: i32 = 0x7f80_0000;
const HALF_INFINITY: i32 = 0x7c00;
const HALF_NAN: i32 = 0x7e00;
/// Difference of the bits of a half, shifted left by 13, and those of the same number as `f32`.
const REBIAS: i32 = 112 << 23;

/// Power of two with a last bit of the same weight as the last bit of x as a half. Its sum with
/// `magnitude` rounds `magnitude` to a half.
#[inline(always)]
fn rounding_power<O: Operations>(magnitude: Float<O>) -> Integer<O> {
    (magnitude.to_bits() & EXPONENT).max(MIN_NORMAL) + (13 << 23)
}

/// The nearest half as `f32`, ties to even; infinite from 65520; NaN stays NaN.
#[inline(always)]
pub(super) fn round_to_f16<O: Operations>(x: Float<O>) -> Float<O> {
    let magnitude = x.abs();
    let power = rounding_power(magnitude).to_float_bits();
    let rounded = magnitude + power - power;
    // The largest float that rounds down to a finite half.
    let overflows = magnitude.is_above(65_519.996);
    let rounded = overflows.select(x.constant(f32::INFINITY), rounded);
    (rounded.to_bits() | x.sign()).to_float_bits()
}

/// Value of the half in the low 16 bits.
#[inline(always)]
pub(super) fn f16_to_f32<O: Operations>(bits: Integer<O>) -> Float<O> {
    let magnitude = bits & 0x7fff;
    let shifted = magnitude.shift_left(13);
    let normal = shifted + REBIAS;
    let special = normal + REBIAS;
    // The alternative, a product with 2¹¹², has subnormal operands, which are slow on some
    // processors.
    let subnormal = (shifted + MIN_NORMAL).to_float_bits() - f32::from_bits(MIN_NORMAL as u32);
    let value = magnitude.is_above(HALF_INFINITY - 1).select(special, normal);
    let value = magnitude.is_below(0x0400).select(subnormal.to_bits(), value);
    (value | bits.shift_left(16) & i32::MIN).to_float_bits()
}

/// Bits of the nearest half in the low 16 bits, the high bits zero.
#[inline(always)]
pub(super) fn f32_to_f16<O: Operations>(x: Float<O>) -> Integer<O> {
    // 65536 has the bits of infinity as a half.
    let magnitude = x.abs().min(x.constant(65_536.0));
    let power = rounding_power(magnitude);
    // The low bits of the sum are the half's significand, with its leading bit.
    let units = (magnitude + power.to_float_bits()).to_bits() - power;
    let bits = units + (power.shift_right(13) - ((13 + 113) << 10));
    let is_number = magnitude.is_equal(magnitude);
    is_number.select(bits, x.constant(HALF_NAN)) | x.to_bits().shift_right(16) & 0x8000
}
