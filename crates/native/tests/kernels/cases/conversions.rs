use half::f16;

use super::{FLOATS, SIGNED, UNSIGNED, check};

#[test]
fn floats_to_integers_saturate_at_last_integer_of_float_type() {
    check("i32(x)", &FLOATS, |a| match f64::from(a) {
        a if a.is_nan() => 0,
        a => a.trunc().clamp(-2147483648.0, 2147483520.0) as i32,
    });
    check("u32(x)", &FLOATS, |a| match f64::from(a) {
        a if a.is_nan() => 0,
        a => a.trunc().clamp(0.0, 4294967040.0) as u32,
    });
    check("i64(x)", &FLOATS, |a| (a as i64).min(9223371487098961920));
    check("u64(x)", &FLOATS, |a| (a as u64).min(18446742974197923840));
    check("i32(f64(x))", &FLOATS, |a| a as i32);
    check("i64(f64(x))", &FLOATS, |a| (a as i64).min(9223372036854774784));
    check("u64(f64(x))", &FLOATS, |a| (a as u64).min(18446744073709549568));
}

#[test]
fn integers_to_floats_round_to_nearest() {
    check("f32(x)", &SIGNED, |a| a as f32);
    check("f32(x)", &UNSIGNED, |a| a as f32);
    check("f32(x)", &[16777217, 16777219, -16777217], |a: i32| match a {
        16777217 => 16777216.0f32,
        16777219 => 16777220.0,
        _ => -16777216.0,
    });
    check("f64(x)", &[i64::MAX, i64::MIN, (1 << 53) + 1], |a| a as f64);
}

#[test]
fn integers_change_their_width() {
    check("i64(x)", &SIGNED, i64::from);
    check("u64(x)", &UNSIGNED, u64::from);
    check("i64(x)", &UNSIGNED, i64::from);
    check("u64(x)", &SIGNED, |a| i64::from(a) as u64);
    check("i32(x)", &[i64::MAX, i64::MIN, 1 << 32, -1, (1 << 31) + 5], |a| a as i32);
    check("u32(x)", &SIGNED, |a| a as u32);
    check("i32(x)", &UNSIGNED, |a| a as i32);
}

#[test]
fn bools_are_one_or_zero() {
    check("u32(bool(x))", &UNSIGNED, |a| u32::from(a != 0));
    check("f32(bool(x))", &FLOATS, |a| if a != 0.0 { 1.0f32 } else { 0.0 });
    check("i32(x > 0)", &SIGNED, |a| i32::from(a > 0));
}

#[test]
fn bit_casts_keep_bits() {
    let numbers: Vec<_> = FLOATS.into_iter().filter(|a| !a.is_nan()).collect();
    check("bitcast<u32>(x)", &numbers, f32::to_bits);
    check("bitcast<f32>(x)", &UNSIGNED, f32::from_bits);
    check("bitcast<i32>(x)", &UNSIGNED, |a| a as i32);
}

#[test]
fn packing_of_normalized_numbers_clamps_and_rounds() {
    let inputs: Vec<[f32; 4]> = (0..25).map(|i| [FLOATS[i], FLOATS[(i * 3) % 25], 0.1 * i as f32 - 1.2, 0.7]).collect();
    let pack = |fields: &[i32], bits: usize| {
        fields.iter().enumerate().fold(0, |word, (i, field)| word | (*field as u32 & ((1 << bits) - 1)) << (i * bits))
    };
    let snorm = |x: f32, scale: f32| if x.is_nan() { 0 } else { (0.5 + scale * x.clamp(-1.0, 1.0)).floor() as i32 };
    let unorm = |x: f32, scale: f32| if x.is_nan() { 0 } else { (0.5 + scale * x.clamp(0.0, 1.0)).floor() as i32 };
    check("pack4x8snorm(x)", &inputs, |x| pack(&x.map(|x| snorm(x, 127.0)), 8));
    check("pack4x8unorm(x)", &inputs, |x| pack(&x.map(|x| unorm(x, 255.0)), 8));
    check("pack2x16snorm(x.xy)", &inputs, |[x, y, ..]| pack(&[x, y].map(|x| snorm(x, 32767.0)), 16));
    check("pack2x16unorm(x.xy)", &inputs, |[x, y, ..]| pack(&[x, y].map(|x| unorm(x, 65535.0)), 16));
    check("pack2x16float(x.zw)", &inputs, |[.., x, y]| pack(&[x, y].map(|x| f16::from_f32(x).to_bits().into()), 16));
}

#[test]
fn unpacking_of_normalized_numbers_divides_by_the_largest() {
    let byte = |x: u32, i: u32| x >> (8 * i) & 255;
    check("unpack4x8unorm(x)", &UNSIGNED, |x| [0, 1, 2, 3].map(|i| byte(x, i) as f32 / 255.0));
    check("unpack4x8snorm(x)", &UNSIGNED, |x| [0, 1, 2, 3].map(|i| (f32::from(byte(x, i) as i8) / 127.0).max(-1.0)));
    check("unpack2x16unorm(x)", &UNSIGNED, |x| [x & 65535, x >> 16].map(|x| x as f32 / 65535.0));
    check("unpack2x16snorm(x)", &UNSIGNED, |x| {
        [x as i16, (x >> 16) as i16].map(|x| (f32::from(x) / 32767.0).max(-1.0))
    });
    check("unpack2x16float(x)", &UNSIGNED, |x| [x as u16, (x >> 16) as u16].map(|x| f16::from_bits(x).to_f32()));
}

#[test]
fn packing_of_bytes_wraps_or_clamps() {
    let signed: Vec<[i32; 4]> = SIGNED.iter().map(|&a| [a, 127, -129, 200]).collect();
    let unsigned: Vec<[u32; 4]> = UNSIGNED.iter().map(|&a| [a, 255, 256, 300]).collect();
    let word = u32::from_le_bytes;
    check("pack4xI8(x)", &signed, |x| word(x.map(|x| x as u8)));
    check("pack4xU8(x)", &unsigned, |x| word(x.map(|x| x as u8)));
    check("pack4xI8Clamp(x)", &signed, |x| word(x.map(|x| x.clamp(-128, 127) as u8)));
    check("pack4xU8Clamp(x)", &unsigned, |x| word(x.map(|x| x.min(255) as u8)));
    check("unpack4xI8(x)", &UNSIGNED, |x| x.to_le_bytes().map(|x| i32::from(x as i8)));
    check("unpack4xU8(x)", &UNSIGNED, |x| x.to_le_bytes().map(u32::from));
}
