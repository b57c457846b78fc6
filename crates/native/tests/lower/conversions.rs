use crate::half::{f32_to_half, half_to_f32};
use crate::{bits, evaluate, run_body};

const FLOATS: [f32; 14] = [
    0.0,
    -0.0,
    0.9,
    -0.9,
    2.5,
    -7.9,
    2_147_483_500.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    4_294_967_296.0,
    1e30,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

#[test]
fn floats_convert_to_integers_by_truncation_and_saturate_at_last_integer_of_float_type() {
    for value in FLOATS {
        let out = evaluate("f32", &["bitcast<u32>(i32(a))", "u32(a)", "u32(bool(a))"], &bits(&[value]));
        assert_eq!(
            out,
            [(value as i32).min(2_147_483_520) as u32, (value as u32).min(4_294_967_040), u32::from(value != 0.0)],
            "{value}"
        );
        let body = "let a = bitcast<f32>(input[0]);
            let s = bitcast<u64>(i64(a)); let u = u64(a);
            out[0] = u32(s & 0xfffffffflu); out[1] = u32(s >> 32u);
            out[2] = u32(u & 0xfffffffflu); out[3] = u32(u >> 32u);";
        let out = run_body("", body, &bits(&[value]), 4);
        let pair = |low: usize| u64::from(out[low]) | u64::from(out[low + 1]) << 32;
        assert_eq!(pair(0) as i64, (value as i64).min(9_223_371_487_098_961_920), "{value}");
        assert_eq!(pair(2), (value as u64).min(18_446_742_974_197_923_840), "{value}");
    }
}

#[test]
fn integers_convert_to_the_nearest_float() {
    for value in [0_u32, 1, 16_777_217, 16_777_219, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        let out = evaluate("u32", &["bitcast<u32>(f32(a))", "bitcast<u32>(f32(bitcast<i32>(a)))"], &[value]);
        assert_eq!(out, bits(&[value as f32, value as i32 as f32]));
        let body = "let a = input[0]; let s = bitcast<i32>(a);
            out[0] = bitcast<u32>(f32(f16(a))); out[1] = bitcast<u32>(f32(f16(s)));
            let d = bitcast<u64>(f64(s)); out[2] = u32(d & 0xfffffffflu); out[3] = u32(d >> 32u);
            out[4] = bitcast<u32>(f32(i64(s) * 3li)); out[5] = u32(i64(s) < 0li); out[6] = u32(u64(a) > 4294967294lu);
            out[7] = u32(bool(a)); out[8] = bitcast<u32>(f32(bool(s)));";
        let out = run_body("", body, &[value], 9);
        let half = |value: f32| half_to_f32(f32_to_half(value));
        assert_eq!(out[..2], bits(&[half(value as f32), half(value as i32 as f32)]));
        assert_eq!(f64::from_bits(u64::from(out[2]) | u64::from(out[3]) << 32), f64::from(value as i32));
        assert_eq!(out[4], ((i64::from(value as i32) * 3) as f32).to_bits());
        assert_eq!(out[5..7], [u32::from((value as i32) < 0), u32::from(value == u32::MAX)]);
        assert_eq!(out[7..], [u32::from(value != 0), if value == 0 { 0 } else { 1.0_f32.to_bits() }]);
    }
}

#[test]
fn f16_conversions_round_to_nearest_even() {
    for value in [0.1_f32, 65519.0, 65520.0, 1e-7, 3e-8, 2.9e-8, -2049.0, -2051.0, f32::INFINITY] {
        let body = "let h = f16(bitcast<f32>(input[0]));
            out[0] = bitcast<u32>(f32(h)); out[1] = bitcast<u32>(i32(h)); out[2] = u32(bool(h));
            let v = vec2<f16>(vec2(bitcast<f32>(input[0]), 0.1)); out[3] = bitcast<u32>(f32(v.y));";
        let out = run_body("", body, &bits(&[value]), 4);
        let half = half_to_f32(f32_to_half(value));
        let expected = [half.to_bits(), half as i32 as u32, u32::from(half != 0.0), half_to_f32(0x2e66).to_bits()];
        assert_eq!(out, expected, "{value}");
    }
}

#[test]
fn f64_conversions_round_once_per_step() {
    let body = "let d = f64(bitcast<f32>(input[0])) / 3.0lf;
        out[0] = bitcast<u32>(f32(d)); out[1] = bitcast<u32>(i32(d)); out[2] = u32(d * 1e12lf);
        let l = i64(d * 1e12lf); out[3] = u32(bitcast<u64>(l) >> 32u); out[4] = u32(bool(d));";
    let out = run_body("", body, &bits(&[10.0]), 5);
    let d = 10.0_f64 / 3.0;
    let long = (d * 1e12) as i64;
    assert_eq!(out, [(d as f32).to_bits(), 3, u32::MAX, (long >> 32) as u32, 1]);
}

#[test]
fn bit_casts_keep_bits_of_vectors_and_long_scalars() {
    let body = "let v = bitcast<vec2<f32>>(vec2(input[0], input[1]));
        let w = bitcast<vec2<i32>>(v); out[0] = bitcast<u32>(w.y);
        let l = (u64(input[1]) << 32u) | u64(input[0]);
        let d = bitcast<f64>(l); let m = bitcast<i64>(d); out[1] = u32(bitcast<u64>(m) >> 32u);
        out[2] = u32(bitcast<u64>(m) & 0xfffffffflu);";
    assert_eq!(run_body("", body, &[0x4000_1234, 0xbff5_5555], 3), [0xbff5_5555, 0xbff5_5555, 0x4000_1234]);
}

#[test]
fn bools_convert_to_numbers() {
    let body = "let t = vec2<bool>(input[0] == 1u, input[0] == 2u);
        let f = vec2<f32>(t); let i = vec2<i32>(t); let u = vec2<u32>(t); let h = vec2<f16>(t);
        out[0] = bitcast<u32>(f.x); out[1] = bitcast<u32>(i.x + i.y); out[2] = u.y; out[3] = bitcast<u32>(f32(h.x));
        out[4] = u32(u64(t.x) + 5lu); let b = vec2<bool>(u); out[5] = u32(b.x != b.y);";
    let one = 1.0_f32.to_bits();
    assert_eq!(run_body("", body, &[1], 6), [one, 1, 0, one, 6, 1]);
}
