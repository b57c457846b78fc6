//! Conversions of halves: all bit patterns, and rounding at each boundary.

use super::Random;
use super::interpreter::Expansion;
use crate::ir::Type;
use crate::math::{self, scalar};

fn value_of(half: u16) -> f64 {
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if half >> 15 == 1 { -magnitude } else { magnitude }
}

/// Bits of the nearest half by integer arithmetic on the bits of `x`; 0x7e00 and the sign for NaN.
fn nearest_half(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let (exponent, fraction) = ((bits >> 23 & 255) as i32, u64::from(bits & 0x7f_ffff));
    if exponent == 255 {
        return sign | if fraction == 0 { 0x7c00 } else { 0x7e00 };
    }
    let (exponent, significand) = if exponent == 0 { (1, fraction) } else { (exponent, fraction | 1 << 23) };
    // |x| = significand · 2^(exponent − 150); unit of the half's last place: 2^(max(…, −14) − 10).
    let unit_exponent = (exponent - 127).max(-14) - 10;
    let shift = (unit_exponent - (exponent - 150)).min(60);
    let (quotient, rest, tie) = (significand >> shift, significand & ((1 << shift) - 1), 1_u64 << (shift - 1));
    let rounded = quotient + u64::from(rest > tie || rest == tie && quotient & 1 == 1);
    let biased = (unit_exponent + 24) as u64;
    let half = (biased << 10) + rounded;
    sign | half.min(0x7c00) as u16
}

fn from_half_expansion() -> Expansion {
    Expansion::new(&[Type::I32], |kernel, out, values| Some(math::expand_f16_to_f32(kernel, out, values[0])))
        .expect("an expansion")
}

fn to_half_expansion() -> Expansion {
    Expansion::new(&[Type::F32], |kernel, out, values| Some(math::expand_f32_to_f16(kernel, out, values[0])))
        .expect("an expansion")
}

fn round_expansion() -> Expansion {
    Expansion::new(&[Type::F32], |kernel, out, values| Some(math::expand_round_to_f16(kernel, out, values[0])))
        .expect("an expansion")
}

#[test]
fn every_half_converts_to_its_value_and_back() {
    let (mut from_half, mut to_half, mut round) = (from_half_expansion(), to_half_expansion(), round_expansion());
    assert_eq!((from_half.result_type(), to_half.result_type()), (Type::F32, Type::I32));
    let operations = [&round, &from_half, &to_half].map(|expansion| expansion.count_operations());
    assert_eq!(operations, [10, 13, 15]);
    for half in 0..=u16::MAX {
        let value = scalar::f16_to_f32(half);
        let expected = value_of(half);
        assert_eq!(value.is_nan(), expected.is_nan(), "{half:#06x}");
        assert_eq!(value.is_sign_negative(), half >> 15 == 1, "{half:#06x}");
        assert_eq!(from_half.run(&[u32::from(half) | 0xabcd_0000]), value.to_bits(), "{half:#06x}");
        let back = to_half.run(&[value.to_bits()]);
        assert_eq!(back, u32::from(scalar::f32_to_f16(value)), "{half:#06x}");
        if expected.is_nan() {
            assert_eq!(back, u32::from(half & 0x8000 | 0x7e00), "{half:#06x}");
        } else {
            assert_eq!(f64::from(value), expected, "{half:#06x}");
            assert_eq!(back, u32::from(half), "{half:#06x}");
            assert_eq!(round.run(&[value.to_bits()]), value.to_bits(), "{half:#06x}");
        }
    }
}

#[test]
fn rounding_to_half_is_to_nearest_with_ties_to_even() {
    let (mut to_half, mut round) = (to_half_expansion(), round_expansion());
    let mut check = |x: f32| {
        let expected = nearest_half(x);
        assert_eq!(scalar::f32_to_f16(x), expected, "{x:e} = {:#010x}", x.to_bits());
        assert_eq!(to_half.run(&[x.to_bits()]), expected.into(), "{x:e}");
        let rounded = scalar::round_to_f16(x);
        if x.is_nan() {
            assert!(rounded.is_nan() && f32::from_bits(round.run(&[x.to_bits()])).is_nan());
        } else {
            assert_eq!(f64::from(rounded), value_of(expected), "{x:e}");
            assert_eq!(rounded.is_sign_negative(), x.is_sign_negative(), "{x:e}");
            assert_eq!(round.run(&[x.to_bits()]), rounded.to_bits(), "{x:e}");
        }
    };
    // Each half, the midpoint to the next one, and the floats next to both.
    for half in 0..0x7c00_u16 {
        let value = scalar::f16_to_f32(half);
        let next = if half == 0x7bff { 65_536.0 } else { scalar::f16_to_f32(half + 1) };
        for x in [value, (value + next) / 2.0] {
            for x in [x.next_down(), x, x.next_up()] {
                check(x);
                check(-x);
            }
        }
    }
    let mut random = Random::new(42);
    for _ in 0..200_000 {
        check(random.next_float());
    }
    super::special_values().into_iter().for_each(check);
}
