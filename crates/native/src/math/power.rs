//! Power: `|x|^y = 2^(y · log2 |x|)`. The logarithm and its product with `y` are sums of two
//! floats, the first with few enough bits for exact products.
//!
//! Source: K. C. Ng, `e_pow.c` of Sun's `fdlibm`, and its version for `float` in FreeBSD's `msun`.

use super::exponential::exp2_of_sum;
use super::lane::{Float, Operations};
use super::logarithm::{SplitFloat, split};

/// 2 / (3 · ln 2) in 12 bits.
const SCALE_HIGH: f32 = 0.961_914_06;
/// 2 / (3 · ln 2) − [`SCALE_HIGH`]
const SCALE_LOW: f32 = -0.000_117_368_574;
const SCALE: f32 = 0.961_796_7;
/// Magnitude of the exponent beyond which a power is 0, 1 or infinite.
const EXPONENT_LIMIT: f32 = 1.267_650_6e30; // 2¹⁰⁰
/// Minimum magnitude at which all floats are even integers.
const EVEN_INTEGERS: f32 = 16_777_216.0; // 2²⁴

/// Unevaluated sum of two floats. `high` has 12 bits.
#[derive(Clone, Copy)]
struct FloatSum<O: Operations> {
    high: Float<O>,
    low: Float<O>,
}

/// Power `x^y` with the special cases of C's `powf`: `x^0 = 1^y = 1` even for NaN. A negative `x`
/// gives the sign of the parity of an integer `y`, and NaN for other finite `y`.
#[inline(always)]
pub(super) fn pow<O: Operations>(x: Float<O>, y: Float<O>) -> Float<O> {
    let y = y.clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT);
    let magnitude = x.abs();
    let power = pow_of_positive(magnitude, y);

    // Distance of y from the nearest even integer: 1 for odd y.
    let exponent = y.abs();
    let distance = (exponent - (exponent + EVEN_INTEGERS - EVEN_INTEGERS)).abs();
    let fractional = distance.is_above(0.0) & distance.is_below(1.0);
    let undefined = x.is_below(0.0) & fractional;
    // A product with zero passes on NaN of the base.
    let power = undefined.select(x.constant(f32::NAN), power + magnitude * 0.0);

    let infinite = magnitude.equals(f32::INFINITY);
    let edge = magnitude.equals(0.0) | infinite;
    let grows = infinite ^ y.is_below(0.0);
    let power = edge.select(grows.choose(f32::INFINITY, 0.0) + y * 0.0, power);

    let sign = distance.equals(1.0).choose(i32::MIN, 0) & x.to_bits();
    let power = (y.equals(0.0) | x.equals(1.0)).select(x.constant(1.0), power.flip_sign(sign));
    // For a constant exponent of 2, only this product remains.
    y.equals(2.0).select(x * x, power)
}

#[inline(always)]
fn pow_of_positive<O: Operations>(x: Float<O>, y: Float<O>) -> Float<O> {
    let logarithm = log2(x);
    let y_high = y.high_part();
    let high = y_high * logarithm.high;
    let low = (y - y_high) * logarithm.high + y * logarithm.low;
    exp2_of_sum((low + high).clamp(-151.0, 129.0), |k| (high - k + low).clamp(-1.0, 1.0))
}

/// log2 x = exponent + 2 / (3 · ln 2) · s · (3 + s² + r), with s = (m − 1) / (m + 1)
#[inline(always)]
fn log2<O: Operations>(x: Float<O>) -> FloatSum<O> {
    let SplitFloat { exponent, significand } = split(x);
    let numerator = significand - 1.0;
    let denominator = significand + 1.0;
    let reciprocal = 1.0 / denominator;
    let s = numerator * reciprocal;
    let s_high = s.high_part();
    let denominator_high = denominator.high_part();
    let denominator_low = significand - (denominator_high - 1.0);
    let s_low = reciprocal * (numerator - s_high * denominator_high - s_high * denominator_low);

    let z = s * s;
    let r = z * z * z.polynomial([0.6, 0.428_579_6, 0.332_694_2, 0.293_393_16]) + s_low * (s_high + s);
    let square = s_high * s_high;
    let factor_high = (square + 3.0 + r).high_part();
    let factor_low = r - (factor_high - 3.0 - square);

    let product = s_high * factor_high;
    let correction = s_low * factor_high + factor_low * s;
    let high = (product + correction).high_part();
    let low = correction - (high - product);

    let scaled_high = high * SCALE_HIGH;
    let scaled_low = high * SCALE_LOW + low * SCALE;
    let high = (scaled_high + scaled_low + exponent).high_part();
    FloatSum { high, low: scaled_low - (high - exponent - scaled_high) }
}
