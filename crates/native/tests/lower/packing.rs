use crate::half::{f32_to_half, half_to_f32};
use crate::{bits, evaluate, run_body};

const VALUES: [f32; 12] =
    [0.0, 1.0, -1.0, 0.5, -0.25, 2.0, -7.0, 0.003_921_6, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.1];

fn normalized(value: f32, low: f32, one: f32) -> u32 {
    let raised = if value < low { low } else { value };
    let clamped = if 1.0 < raised { 1.0 } else { raised };
    (0.5 + one * clamped).floor() as i32 as u32
}

#[test]
fn packed_normalized_values_round_to_the_nearest_step() {
    for quad in VALUES.windows(4) {
        let out = evaluate(
            "f32",
            &[
                "pack4x8snorm(vec4(a, b, c, d))",
                "pack4x8unorm(vec4(a, b, c, d))",
                "pack2x16snorm(vec2(a, b))",
                "pack2x16unorm(vec2(a, b))",
            ],
            &bits(quad),
        );
        let join = |count: usize, width: u32, low: f32, one: f32| {
            let fields = quad[..count].iter().map(|value| normalized(*value, low, one) & (u32::MAX >> (32 - width)));
            fields.enumerate().fold(0, |all, (index, field)| all | field << (index as u32 * width))
        };
        assert_eq!(out[0], join(4, 8, -1.0, 127.0), "{quad:?}");
        assert_eq!(out[1], join(4, 8, 0.0, 255.0), "{quad:?}");
        assert_eq!(out[2], join(2, 16, -1.0, 32767.0), "{quad:?}");
        assert_eq!(out[3], join(2, 16, 0.0, 65535.0), "{quad:?}");
    }
}

#[test]
fn unpacked_normalized_values_are_quotients() {
    for packed in [0_u32, u32::MAX, 0x8000_7fff, 0x0180_7fff, 0x1234_5678] {
        let body = "
            let s = unpack4x8snorm(input[0]); let u = unpack4x8unorm(input[0]);
            let t = unpack2x16snorm(input[0]); let v = unpack2x16unorm(input[0]);
            let all = array<f32, 12>(s.x, s.y, s.z, s.w, u.x, u.y, u.z, u.w, t.x, t.y, v.x, v.y);
            for (var i = 0; i < 12; i++) { out[i] = bitcast<u32>(all[i]); }";
        let out = run_body("", body, &[packed], 12);
        let bytes = packed.to_le_bytes();
        let words = [packed as u16, (packed >> 16) as u16];
        let mut expected: Vec<f32> = bytes.iter().map(|byte| (f32::from(*byte as i8) / 127.0).max(-1.0)).collect();
        expected.extend(bytes.iter().map(|byte| f32::from(*byte) / 255.0));
        expected.extend(words.iter().map(|word| (f32::from(*word as i16) / 32767.0).max(-1.0)));
        expected.extend(words.iter().map(|word| f32::from(*word) / 65535.0));
        assert_eq!(out, bits(&expected), "{packed:x}");
    }
}

#[test]
fn packed_halves_round_to_nearest_even() {
    let values = [
        0.0,
        -0.0,
        1.0,
        -2.5,
        65504.0,
        65519.0,
        65520.0,
        1e10,
        6.1e-5,
        6.0e-5,
        5.96e-8,
        2.98e-8,
        2.99e-8,
        1e-9,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.333_333_34,
        -1023.75,
    ];
    for pair in values.windows(2) {
        let out = evaluate("f32", &["pack2x16float(vec2(a, b))"], &bits(pair));
        let expected = u32::from(f32_to_half(pair[0])) | u32::from(f32_to_half(pair[1])) << 16;
        assert_eq!(out, [expected], "{pair:?}");
    }
    let nan = evaluate("f32", &["pack2x16float(vec2(a, 0.0))"], &bits(&[f32::NAN]))[0];
    assert!(half_to_f32(nan as u16).is_nan());
}

#[test]
fn every_half_unpacks_to_its_value() {
    let body = "for (var i = 0u; i < 65536u; i++) {
            let v = unpack2x16float(i | (i << 16u));
            if (bitcast<u32>(v.x) == bitcast<u32>(v.y)) { out[i] = bitcast<u32>(v.y); }
        }";
    let out = run_body("", body, &[], 65536);
    for (half, word) in (0..=u16::MAX).zip(out) {
        let (actual, expected) = (f32::from_bits(word), half_to_f32(half));
        let same = actual.to_bits() == expected.to_bits() || actual.is_nan() && expected.is_nan();
        assert!(same, "{half:x}: {actual:e}, not {expected:e}");
    }
}

#[test]
fn packed_bytes_keep_low_bits_or_clamp() {
    let body = "let s = bitcast<vec4<i32>>(vec4(input[0], input[1], input[2], input[3]));
        let u = vec4(input[0], input[1], input[2], input[3]);
        out[0] = pack4xI8(s); out[1] = pack4xU8(u); out[2] = pack4xI8Clamp(s); out[3] = pack4xU8Clamp(u);
        let i = unpack4xI8(input[4]); let w = unpack4xU8(input[4]);
        out[4] = bitcast<u32>(i.x); out[5] = bitcast<u32>(i.w); out[6] = w.y; out[7] = w.w;";
    let out = run_body("", body, &[5, -200_i32 as u32, 300, -1_i32 as u32, 0x80ff_7f81], 8);
    assert_eq!(out[0], u32::from_le_bytes([5, 56, 44, 255]));
    assert_eq!(out[1], u32::from_le_bytes([5, 56, 44, 255]));
    assert_eq!(out[2], u32::from_le_bytes([5, 128, 127, 255]));
    assert_eq!(out[3], u32::from_le_bytes([5, 255, 255, 255]));
    assert_eq!(out[4..], [0x81_u8 as i8 as u32, 0x80_u8 as i8 as u32, 0x7f, 0x80]);
}
