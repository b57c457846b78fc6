use std::f32::consts::{FRAC_PI_2, PI};

use super::lane::{Float, Operations};

/// π/2 − [`FRAC_PI_2`]
const HALF_PI_LOW: f32 = -4.371_139e-8;
/// π − [`PI`]
const PI_LOW: f32 = -8.742_278e-8;

/// Arcsine of an operand up to ½, or of the reduced operand of a larger one.
#[derive(Clone, Copy)]
struct Arcsine<O: Operations> {
    /// |x| > ½
    large: super::lane::Condition<O>,
    /// asin |x|, or asin √((1 − |x|) / 2) for large operands.
    value: Float<O>,
}

/// asin |x| = π/2 − 2 asin √((1 − |x|) / 2)
#[inline(always)]
fn arcsine<O: Operations>(magnitude: Float<O>) -> Arcsine<O> {
    let large = magnitude.is_above(0.5);
    let z = large.select(0.5 - magnitude * 0.5, magnitude * magnitude);
    let s = large.select(z.sqrt(), magnitude);
    let tail = z.polynomial([0.166_667_52, 0.074_953_094, 0.045_469_154, 0.024_184_743, 0.042_158_388]);
    Arcsine { large, value: s + s * z * tail }
}

/// Arcsine; NaN beyond ±1.
#[inline(always)]
pub(super) fn asin<O: Operations>(x: Float<O>) -> Float<O> {
    let Arcsine { large, value } = arcsine(x.abs());
    let complement = FRAC_PI_2 - (value + value - HALF_PI_LOW);
    large.select(complement, value).flip_sign(x.sign())
}

/// Arccosine; NaN beyond ±1.
#[inline(always)]
pub(super) fn acos<O: Operations>(x: Float<O>) -> Float<O> {
    let Arcsine { large, value } = arcsine(x.abs());
    let twice = value + value;
    let negative = x.is_below(0.0);
    let of_large = negative.select(PI - (twice - PI_LOW), twice);
    large.select(of_large, FRAC_PI_2 - (value.flip_sign(x.sign()) - HALF_PI_LOW))
}

#[inline(always)]
fn atan_of_reduced<O: Operations>(t: Float<O>) -> Float<O> {
    let z = t * t;
    let tail = z.polynomial([
        -0.333_333,
        0.199_985_3,
        -0.142_640_43,
        0.109_515_436,
        -0.084_035_5,
        0.057_998_98,
        -0.031_259_26,
        0.010_978_778,
        -0.001_812_155_6,
    ]);
    t + t * z * tail
}

#[inline(always)]
pub(super) fn atan<O: Operations>(x: Float<O>) -> Float<O> {
    let magnitude = x.abs();
    let one = x.constant(1.0);
    let angle = atan_of_reduced(magnitude.min(one) / magnitude.max(one));
    let angle = magnitude.is_above(1.0).select(FRAC_PI_2 - (angle - HALF_PI_LOW), angle);
    angle.flip_sign(x.sign())
}

/// Angle of the point (x, y) in radians, from −π to π; signs of zeros count as in IEEE 754.
#[inline(always)]
pub(super) fn atan2<O: Operations>(y: Float<O>, x: Float<O>) -> Float<O> {
    let (a, b) = (x.abs(), y.abs());
    // NaN of either operand must reach the quotient.
    let steep = a.is_less(b);
    let (short, long) = (steep.select(a, b), steep.select(b, a));
    // 0 / 0 counts as 0, ∞ / ∞ as 1.
    let equal = a.is_equal(b);
    let quotient = equal.select(a.is_above(0.0).choose(1.0, 0.0), short / long);
    let angle = atan_of_reduced(quotient);
    let angle = steep.select(FRAC_PI_2 - (angle - HALF_PI_LOW), angle);
    let angle = x.to_bits().is_below(0).select(PI - (angle - PI_LOW), angle);
    angle.flip_sign(y.sign())
}
