//! Sine, cosine and tangent.
//!
//! Reduction subtracts a multiple of π (π/2 for the tangent) from the operand, in several parts.
//! The products of the multiple with all parts except the last are exact for multiples of at most
//! 15 or 16 bits: operands up to 10⁵. Beyond, errors grow with the operand. The reduced operand is
//! clamped, so that sine and cosine are always between −1 and 1.

use std::f32::consts::{FRAC_1_PI, FRAC_2_PI};

use super::exponential::ROUND_TO_INTEGER;
use super::lane::{Float, Operations};

/// π in parts of at most 9 bits and a rest: 3.1406, 9.7·10⁻⁴, 6.3·10⁻⁷, 1.2·10⁻¹⁰, 1.2·10⁻¹³.
const PI_PARTS: [f32; 5] = floats([0x4049_0000, 0x3a7d_8000, 0x3528_8000, 0x2f05_8000, 0x2a0c_234c]);
/// π in non-negative parts (so that −0 stays −0) of at most 8 bits and a rest: 3.1406, 9.7·10⁻⁴,
/// 2.5·10⁻⁶, 2.0·10⁻⁹, 5.1·10⁻¹².
const PI_NARROW_PARTS: [f32; 5] = floats([0x4049_0000, 0x3a7d_0000, 0x362a_0000, 0x3108_0000, 0x2cb4_611a]);
const HALF_PI_PARTS: [f32; 5] = floats([0x3fc9_0000, 0x39fd_0000, 0x35aa_0000, 0x3088_0000, 0x2c34_611a]);
const REDUCED_LIMIT: f32 = 1.585;

const fn floats<const N: usize>(bits: [u32; N]) -> [f32; N] {
    let mut values = [0.0; N];
    let mut index = 0;
    while index < N {
        values[index] = f32::from_bits(bits[index]);
        index += 1;
    }
    values
}

/// x − `multiple` · (sum of `parts`)
#[inline(always)]
fn reduce<O: Operations>(x: Float<O>, multiple: Float<O>, parts: [f32; 5]) -> Float<O> {
    // Exact, because the leading bits cancel.
    let start = x - multiple * parts[0] - multiple * parts[1];
    let product = multiple * parts[2];
    let rest = start - product;
    // Rounding error of `rest`; 0 if the operand is close to the multiple.
    let lost = start - rest - product;
    rest - (multiple * parts[3] - lost) - multiple * parts[4]
}

/// sin r for |r| ≤ π/2
#[inline(always)]
fn sin_of_reduced<O: Operations>(r: Float<O>) -> Float<O> {
    let z = r * r;
    r + r * z * z.polynomial([-0.166_666_6, 0.008_333_067, -0.000_198_095_45, 2.605_424e-6])
}

/// Sine, for x in radians.
#[inline(always)]
pub(super) fn sin<O: Operations>(x: Float<O>) -> Float<O> {
    let shifted = x * FRAC_1_PI + ROUND_TO_INTEGER;
    let multiple = shifted - ROUND_TO_INTEGER;
    let r = reduce(x, multiple, PI_PARTS);
    // The polynomial r + r³ · … would lose the sign of −0.
    let sine = sin_of_reduced(r.abs().min(x.constant(REDUCED_LIMIT)));
    sine.flip_sign(shifted.to_bits().shift_left(31) ^ r.sign())
}

/// Cosine, for x in radians: sin(x − (k + ½) · π) for odd k, with the opposite sign for even k.
#[inline(always)]
pub(super) fn cos<O: Operations>(x: Float<O>) -> Float<O> {
    // The lowest bit of the sum is 1 for even k.
    const SHIFT: f32 = ROUND_TO_INTEGER + 1.0;
    let shifted = x * FRAC_1_PI - 0.5 + SHIFT;
    let multiple = shifted - SHIFT + 0.5;
    let r = reduce(x, multiple, PI_NARROW_PARTS).clamp(-REDUCED_LIMIT, REDUCED_LIMIT);
    sin_of_reduced(r).flip_sign(shifted.to_bits().shift_left(31))
}

/// Tangent, for x in radians: of x − k · π/2, or its negative reciprocal for odd k.
#[inline(always)]
pub(super) fn tan<O: Operations>(x: Float<O>) -> Float<O> {
    let shifted = x * FRAC_2_PI + ROUND_TO_INTEGER;
    let multiple = shifted - ROUND_TO_INTEGER;
    let r = reduce(x, multiple, HALF_PI_PARTS).clamp(-REDUCED_LIMIT / 2.0, REDUCED_LIMIT / 2.0);
    let z = r * r;
    let tail = z.polynomial([0.333_331_38, 0.133_393_17, 0.053_367_34, 0.024_590_004, 0.002_859_427_6, 0.009_541_661]);
    let tangent = r + r * z * tail;
    let even = (shifted.to_bits() & 1).equals(0);
    even.select(tangent, -1.0 / tangent)
}
