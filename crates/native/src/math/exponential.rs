//! Exponential functions.
//!
//! `exp2(x) = 2^k · 2^f` for the nearest integer `k` of `x` and a polynomial for `2^f`. Likewise
//! `exp(x) = 2^k · exp(r)` with `r = x − k · ln 2`.

use super::lane::{Float, Integer, Operations};

/// Addend for rounding: the sum with a float of magnitude below 2²² has the nearest integer in its
/// low bits.
pub(super) const ROUND_TO_INTEGER: f32 = 12_582_912.0; // 1.5 · 2²³

/// ln 2 in 15 bits: its product with an exponent is exact.
pub(super) const LN_2_HIGH: f32 = 0.693_145_75;
/// ln 2 − [`LN_2_HIGH`]
pub(super) const LN_2_LOW: f32 = 1.428_606_8e-6;

/// `significand · 2^k`. The low bits of `exponent` are `k + 254`.
#[derive(Clone, Copy)]
struct ScaledFloat<O: Operations> {
    significand: Float<O>,
    exponent: Integer<O>,
}

impl<O: Operations> ScaledFloat<O> {
    /// Value for `k` from −253 to 254, rounded once if subnormal. Two factors of about the same
    /// exponent avoid an intermediate overflow.
    #[inline(always)]
    fn value(self) -> Float<O> {
        let half = self.exponent.shift_right(1);
        let low = half.shift_left(23).to_float_bits();
        let high = (self.exponent - half).shift_left(23).to_float_bits();
        self.significand * low * high
    }
}

#[inline(always)]
pub(super) fn exp2<O: Operations>(x: Float<O>) -> Float<O> {
    // Beyond these limits the result is 0 or infinity.
    let x = x.clamp(-151.0, 129.0);
    exp2_of_sum(x, |k| x - k)
}

/// 2^(`x` + t) for a `t` much smaller than `x`, with `fraction(k) = x + t − k` and `x` from −151 to
/// 129.
#[inline(always)]
pub(super) fn exp2_of_sum<O: Operations>(x: Float<O>, fraction: impl FnOnce(Float<O>) -> Float<O>) -> Float<O> {
    const SHIFT: f32 = ROUND_TO_INTEGER + 254.0;
    let shifted = x + SHIFT;
    let f = fraction(shifted - SHIFT);
    let slope =
        f.polynomial([0.693_147_24, 0.240_226_55, 0.055_502_724, 0.009_617_063, 0.001_341_820_3, 0.000_158_205_08]);
    ScaledFloat { significand: f * slope + 1.0, exponent: shifted.to_bits() }.value()
}

#[inline(always)]
pub(super) fn exp<O: Operations>(x: Float<O>) -> Float<O> {
    scaled_exp(x, 0.0).value()
}

/// e^x / 2, also finite if e^x overflows.
#[inline(always)]
pub(super) fn half_exp<O: Operations>(x: Float<O>) -> Float<O> {
    scaled_exp(x, -1.0).value()
}

/// e^x · 2^`bias`
#[inline(always)]
fn scaled_exp<O: Operations>(x: Float<O>, bias: f32) -> ScaledFloat<O> {
    // Beyond these limits the result is 0 or infinity.
    let x = x.clamp(-104.0, 90.0);
    let shift = ROUND_TO_INTEGER + 254.0 + bias;
    let shifted = x * std::f32::consts::LOG2_E + shift;
    let k = shifted - shift;
    let r = x - k * LN_2_HIGH - k * LN_2_LOW;
    ScaledFloat { significand: exp_near_zero(r), exponent: shifted.to_bits() }
}

/// e^x for x from −126 · ln 2 to 127 · ln 2, where the result is normal.
#[inline(always)]
pub(super) fn exp_normal<O: Operations>(x: Float<O>) -> Float<O> {
    const SHIFT: f32 = ROUND_TO_INTEGER + 127.0;
    let shifted = x * std::f32::consts::LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let r = x - k * LN_2_HIGH - k * LN_2_LOW;
    exp_near_zero(r) * shifted.to_bits().shift_left(23).to_float_bits()
}

/// e^r for |r| ≤ ln 2 / 2
#[inline(always)]
fn exp_near_zero<O: Operations>(r: Float<O>) -> Float<O> {
    let curvature = r.polynomial([0.499_999_94, 0.166_665_17, 0.041_668_102, 0.008_369_192_5, 0.001_383_886_7]);
    r * r * curvature + r + 1.0
}
