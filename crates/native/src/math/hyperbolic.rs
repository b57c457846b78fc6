//! Hyperbolic functions and their inverses.

use super::exponential::{exp_normal, half_exp};
use super::lane::{Float, Operations};
use super::logarithm::log_1p;

/// Magnitude at which 1 is negligible relative to x. Squares of smaller numbers do not overflow.
const LARGE: f32 = 67_108_864.0; // 2²⁶

#[inline(always)]
pub(super) fn sinh<O: Operations>(x: Float<O>) -> Float<O> {
    let magnitude = x.abs();
    let grown = half_exp(magnitude);
    let of_large = grown - 0.25 / grown;
    let z = magnitude * magnitude;
    let of_small = magnitude + magnitude * z * z.polynomial([0.166_667_16, 0.008_330_271, 0.000_203_733_4]);
    magnitude.is_below(1.0).select(of_small, of_large).flip_sign(x.sign())
}

#[inline(always)]
pub(super) fn cosh<O: Operations>(x: Float<O>) -> Float<O> {
    let grown = half_exp(x.abs());
    grown + 0.25 / grown
}

#[inline(always)]
pub(super) fn tanh<O: Operations>(x: Float<O>) -> Float<O> {
    let magnitude = x.abs();
    // The result is 1 from 9.02.
    let limited = magnitude.min(x.constant(10.0));
    let of_large = 1.0 - 2.0 / (exp_normal(limited + limited) + 1.0);
    let z = limited * limited;
    let tail = z.polynomial([-0.333_332_8, 0.133_314_06, -0.053_736_515, 0.020_628_167, -0.005_692_296_7]);
    magnitude.is_below(0.625).select(magnitude + magnitude * z * tail, of_large).flip_sign(x.sign())
}

/// Inverse hyperbolic sine: ln(1 + |x| + x² / (1 + √(1 + x²))).
#[inline(always)]
pub(super) fn asinh<O: Operations>(x: Float<O>) -> Float<O> {
    let magnitude = x.abs();
    let square = magnitude * magnitude;
    let excess = magnitude + square / ((square + 1.0).sqrt() + 1.0);
    log_of_double(magnitude, excess).flip_sign(x.sign())
}

/// Inverse hyperbolic cosine; NaN below 1. With t = x − 1, ln(1 + t + √(2t + t²)).
#[inline(always)]
pub(super) fn acosh<O: Operations>(x: Float<O>) -> Float<O> {
    let t = x - 1.0;
    let excess = t + (t + t + t * t).sqrt();
    x.is_below(1.0).select(x.constant(f32::NAN), log_of_double(x, excess))
}

/// ln(1 + `excess`), or for large x ln(2 · `x`) as ln(1 + x / 2) + 2 · ln 2.
#[inline(always)]
fn log_of_double<O: Operations>(x: Float<O>, excess: Float<O>) -> Float<O> {
    let small = x.is_below(LARGE);
    log_1p(small.select(excess, x * 0.5), small.choose(0.0, 2.0))
}

/// Inverse hyperbolic tangent: ½ ln(1 + 2|x| / (1 − |x|)); infinite at ±1, NaN beyond.
#[inline(always)]
pub(super) fn atanh<O: Operations>(x: Float<O>) -> Float<O> {
    let magnitude = x.abs();
    let excess = (magnitude + magnitude) / (1.0 - magnitude);
    let result = log_1p(excess, x.constant(0.0)) * 0.5;
    magnitude.is_above(1.0).select(x.constant(f32::NAN), result).flip_sign(x.sign())
}
