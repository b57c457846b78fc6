use std::f32::consts::PI;

use crate::half::{f32_to_half, half_to_f32};
use crate::{bits, evaluate, float, run_body};

const EDGES: [f32; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3.5,
    1e-40,
    -1e-45,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    1234.567,
];

/// Compares bits, except for NaN.
fn assert_same(actual: f32, expected: f32, what: &str) {
    let same = actual.to_bits() == expected.to_bits() || actual.is_nan() && expected.is_nan();
    assert!(same, "{what}: {actual:e}, not {expected:e}");
}

fn check_unary(function: &str, expected: fn(f32) -> f32) {
    for value in EDGES {
        assert_same(float(&format!("{function}(a)"), &[value]), expected(value), &format!("{function}({value:e})"));
    }
}

#[test]
fn functions_of_one_float_follow_their_definitions() {
    check_unary("abs", f32::abs);
    check_unary("ceil", f32::ceil);
    check_unary("floor", f32::floor);
    check_unary("trunc", f32::trunc);
    check_unary("round", f32::round_ties_even);
    check_unary("fract", |x| x - x.floor());
    check_unary("sqrt", f32::sqrt);
    check_unary("inverseSqrt", |x| 1.0 / x.sqrt());
    check_unary("radians", |x| x * (PI as f64 / 180.0) as f32);
    check_unary("degrees", |x| x * (180.0 / std::f64::consts::PI) as f32);
    check_unary("quantizeToF16", |x| half_to_f32(f32_to_half(x)));
    check_unary("sign", |x| match x {
        _ if x > 0.0 => 1.0,
        _ if x < 0.0 => -1.0,
        _ => 0.0,
    });
    check_unary("saturate", |x| {
        let raised = if x < 0.0 { 0.0 } else { x };
        if 1.0 < raised { 1.0 } else { raised }
    });
}

#[test]
fn transcendental_functions_call_the_library() {
    type Named = (&'static str, fn(f64) -> f64);
    let functions: [Named; 17] = [
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("tan", f64::tan),
        ("asin", f64::asin),
        ("acos", f64::acos),
        ("atan", f64::atan),
        ("sinh", f64::sinh),
        ("cosh", f64::cosh),
        ("tanh", f64::tanh),
        ("asinh", f64::asinh),
        ("acosh", f64::acosh),
        ("atanh", f64::atanh),
        ("exp", f64::exp),
        ("exp2", f64::exp2),
        ("log", f64::ln),
        ("log2", f64::log2),
        ("sqrt", f64::sqrt),
    ];
    for (name, function) in functions {
        for value in [0.25_f32, 0.75, 1.5] {
            let expected = function(f64::from(value)) as f32;
            assert_same(float(&format!("{name}(a)"), &[value]), expected, name);
        }
    }
    assert_same(float("atan2(a, b)", &[1.0, -2.0]), 1.0_f64.atan2(-2.0) as f32, "atan2");
    assert_same(float("pow(a, b)", &[1.5, -2.25]), 1.5_f64.powf(-2.25) as f32, "pow");
}

#[test]
fn functions_of_several_floats_follow_their_definitions() {
    for a in EDGES {
        for b in EDGES {
            assert_same(float("min(a, b)", &[a, b]), if b < a { b } else { a }, "min");
            assert_same(float("max(a, b)", &[a, b]), if a < b { b } else { a }, "max");
            assert_same(float("step(a, b)", &[a, b]), if a <= b { 1.0 } else { 0.0 }, "step");
            let expected = a * (1.0 - 0.25) + b * 0.25;
            assert_same(float("mix(a, b, c)", &[a, b, 0.25]), expected, "mix");
            assert_same(float("fma(a, b, c)", &[a, b, 0.3]), a.mul_add(b, 0.3), "fma");
        }
    }
    assert_same(float("clamp(a, b, c)", &[5.0, -1.0, 2.0]), 2.0, "clamp");
    assert_same(float("clamp(a, b, c)", &[-5.0, -1.0, 2.0]), -1.0, "clamp");
    assert_same(float("clamp(a, b, c)", &[0.5, -1.0, 2.0]), 0.5, "clamp");
    assert_same(float("smoothstep(a, b, c)", &[1.0, 3.0, 0.0]), 0.0, "smoothstep");
    assert_same(float("smoothstep(a, b, c)", &[1.0, 3.0, 4.0]), 1.0, "smoothstep");
    let t = (1.7_f32 - 1.0) / (3.0 - 1.0);
    assert_same(float("smoothstep(a, b, c)", &[1.0, 3.0, 1.7]), t * t * (3.0 - 2.0 * t), "smoothstep");
}

fn frexp(value: f32) -> (f32, i32) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    let bits = f64::from(value).to_bits();
    let exponent = (bits >> 52 & 2047) as i32 - 1022;
    (f64::from_bits(bits & !(2047 << 52) | 1022 << 52) as f32, exponent)
}

#[test]
fn frexp_and_modf_split_every_kind_of_float() {
    for value in EDGES {
        let body = "let f = frexp(bitcast<f32>(input[0]));
            out[0] = bitcast<u32>(f.fract); out[1] = bitcast<u32>(f.exp);
            let m = modf(bitcast<f32>(input[0]));
            out[2] = bitcast<u32>(m.fract); out[3] = bitcast<u32>(m.whole);
            let v = frexp(vec2(1.0, bitcast<f32>(input[0])));
            out[4] = bitcast<u32>(v.fract.y); out[5] = bitcast<u32>(v.exp.y);
            out[6] = bitcast<u32>(modf(vec3(bitcast<f32>(input[0]))).whole.z);";
        let out = run_body("", body, &[value.to_bits()], 7);
        let (fraction, exponent) = frexp(value);
        assert_same(f32::from_bits(out[0]), fraction, &format!("frexp({value:e}).fract"));
        assert_eq!(out[1] as i32, exponent, "frexp({value:e}).exp");
        assert_same(f32::from_bits(out[2]), value - value.trunc(), "modf.fract");
        assert_same(f32::from_bits(out[3]), value.trunc(), "modf.whole");
        assert_same(f32::from_bits(out[4]), fraction, "frexp of a vector");
        assert_eq!(out[5] as i32, exponent);
        assert_same(f32::from_bits(out[6]), value.trunc(), "modf of a vector");
    }
}

#[test]
fn ldexp_rounds_once_from_smallest_to_largest_exponents() {
    let exponents = [-400, -300, -280, -277, -173, -150, -149, -140, -127, -126, -1, 0, 1, 127, 128, 150, 277, 300];
    for value in [1.0_f32, -1.999_999_9, 1e-40, 1.5e38, 0.0, f32::INFINITY, 1.000_000_1, 1e-45] {
        for exponent in exponents {
            let out = run_body(
                "",
                "out[0] = bitcast<u32>(ldexp(bitcast<f32>(input[0]), bitcast<i32>(input[1])));",
                &[value.to_bits(), exponent as u32],
                1,
            );
            let expected = (f64::from(value) * 2.0_f64.powi(exponent)) as f32;
            assert_same(f32::from_bits(out[0]), expected, &format!("ldexp({value:e}, {exponent})"));
        }
    }
}

#[test]
fn is_nan_and_is_inf_are_found_by_comparisons() {
    for value in EDGES {
        let out = evaluate("f32", &["u32(a != a)", "u32(abs(a) > 3.4028234e38)"], &bits(&[value]));
        assert_eq!(out, [u32::from(value.is_nan()), u32::from(value.is_infinite())]);
    }
}

#[test]
fn f16_functions_compute_in_f32_and_round_once() {
    let body = "let a = f16(bitcast<f32>(input[0]));
        let b = f16(bitcast<f32>(input[1]));
        out[0] = bitcast<u32>(f32(a + b));
        out[1] = bitcast<u32>(f32(a * b - a));
        out[2] = bitcast<u32>(f32(sqrt(a)));
        out[3] = bitcast<u32>(f32(mix(a, b, 0.3h)));
        out[4] = bitcast<u32>(f32(length(vec2(a, b))));
        out[5] = bitcast<u32>(f32(-a));
        out[6] = u32(frexp(a).exp);
        out[7] = bitcast<u32>(f32(dot(vec2(a, b), vec2(b, b))));";
    let round = |value: f32| half_to_f32(f32_to_half(value));
    let (a, b) = (round(300.3), round(7.123));
    let out = run_body("", body, &bits(&[300.3, 7.123]), 8);
    let third = round(0.3);
    assert_eq!(f32::from_bits(out[0]), round(a + b));
    assert_eq!(f32::from_bits(out[1]), round(round(a * b) - a));
    assert_eq!(f32::from_bits(out[2]), round(a.sqrt()));
    assert_eq!(f32::from_bits(out[3]), round(a * (1.0 - third) + b * third));
    assert_eq!(f32::from_bits(out[4]), round((a * a + b * b).sqrt()));
    assert_eq!(f32::from_bits(out[5]), -a);
    assert_eq!(out[6], 9);
    assert_eq!(f32::from_bits(out[7]), round(a * b + b * b));
}

#[test]
fn f64_functions_keep_double_precision() {
    let body = "let a = f64(bitcast<f32>(input[0]));
        let third = a / 3.0lf;
        out[0] = u32(third * 3.0lf == a);
        let bits = bitcast<u64>(fma(third, third, -third));
        out[1] = u32(bits & 0xfffffffflu);
        out[2] = u32(bits >> 32u);
        out[3] = u32(frexp(third).exp);
        let scaled = bitcast<u64>(ldexp(third, -1070));
        out[4] = u32(scaled & 0xfffffffflu);
        out[5] = u32(scaled >> 32u);";
    let out = run_body("", body, &bits(&[2.5]), 6);
    let third = 2.5_f64 / 3.0;
    let word = |low: usize| u64::from(out[low]) | u64::from(out[low + 1]) << 32;
    assert_eq!(out[0], u32::from(third * 3.0 == 2.5));
    assert_eq!(f64::from_bits(word(1)), third.mul_add(third, -third));
    assert_eq!(out[3], 0);
    let scaled = third * 2.0_f64.powi(-1000) * 2.0_f64.powi(-70);
    assert_eq!(f64::from_bits(word(4)), scaled);
}
