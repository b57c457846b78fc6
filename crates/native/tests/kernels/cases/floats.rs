use half::f16;

use super::{FLOATS, check, pairs, quadruples};

fn min(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

fn max(a: f32, b: f32) -> f32 {
    if a < b { b } else { a }
}

#[test]
fn arithmetic_rounds_each_operation() {
    let inputs = pairs(&FLOATS);
    check("x.x + x.y", &inputs, |[a, b]| a + b);
    check("x.x - x.y", &inputs, |[a, b]| a - b);
    check("x.x * x.y", &inputs, |[a, b]| a * b);
    check("x.x / x.y", &inputs, |[a, b]| a / b);
    check("x.x * x.y + x.z", &quadruples(&FLOATS), |[a, b, c, _]| a * b + c);
    check("-x", &FLOATS, |a| -a);
}

#[test]
fn remainder_of_floats_uses_the_rounded_quotient() {
    check("x.x % x.y", &pairs(&FLOATS), |[a, b]| a - b * (a / b).trunc());
}

#[test]
fn fma_rounds_once() {
    check("fma(x.x, x.y, x.z)", &quadruples(&FLOATS), |[a, b, c, _]| a.mul_add(b, c));
    // A separate rounding of the product 1 + 2⁻¹¹ + 2⁻²⁴ loses its last bit.
    let a = 1.0 + f32::EPSILON * 2048.0;
    check("fma(x, x, -1.0)", &[a], |a| a.mul_add(a, -1.0));
    assert_ne!(a.mul_add(a, -1.0), a * a - 1.0);
}

#[test]
fn comparisons_with_nan_are_false_except_not_equal() {
    let inputs = pairs(&FLOATS);
    check("u32(x.x < x.y) + 2u * u32(x.x <= x.y)", &inputs, |[a, b]| u32::from(a < b) + 2 * u32::from(a <= b));
    check("u32(x.x > x.y) + 2u * u32(x.x >= x.y)", &inputs, |[a, b]| u32::from(a > b) + 2 * u32::from(a >= b));
    check("u32(x.x == x.y) + 2u * u32(x.x != x.y)", &inputs, |[a, b]| u32::from(a == b) + 2 * u32::from(a != b));
}

#[test]
fn min_and_max_return_the_first_operand_unless_the_second_is_beyond() {
    check("min(x.x, x.y)", &pairs(&FLOATS), |[a, b]| min(a, b));
    check("max(x.x, x.y)", &pairs(&FLOATS), |[a, b]| max(a, b));
    check("clamp(x.x, x.y, x.z)", &quadruples(&FLOATS), |[a, l, h, _]| min(max(a, l), h));
    check("saturate(x)", &FLOATS, |a| min(max(a, 0.0), 1.0));
}

#[test]
fn sign_is_zero_for_zeros_and_nan() {
    let sign = |a: f32| match a {
        a if a > 0.0 => 1.0f32,
        a if a < 0.0 => -1.0,
        _ => 0.0,
    };
    check("sign(x)", &FLOATS, sign);
    check("abs(x)", &FLOATS, f32::abs);
}

#[test]
fn rounding_functions_match_rust() {
    check("floor(x)", &FLOATS, f32::floor);
    check("ceil(x)", &FLOATS, f32::ceil);
    check("trunc(x)", &FLOATS, f32::trunc);
    check("round(x)", &FLOATS, f32::round_ties_even);
    check("round(x)", &[0.5, 1.5, 2.5, -0.5, -1.5], |a: f32| match a.to_bits() {
        bits if bits == 0.5f32.to_bits() => 0.0,
        bits if bits == (-0.5f32).to_bits() => -0.0,
        _ => 2f32.copysign(a),
    });
    check("fract(x)", &FLOATS, |a| a - a.floor());
}

#[test]
fn roots_and_angle_conversions_match_rust() {
    check("sqrt(x)", &FLOATS, f32::sqrt);
    check("inverseSqrt(x)", &FLOATS, |a| 1.0 / a.sqrt());
    check("radians(x)", &FLOATS, |a| a * 0.017453292);
    check("degrees(x)", &FLOATS, |a| a * 57.29578);
}

#[test]
fn library_functions_match_libm() {
    check("sin(x)", &FLOATS, libm::sinf);
    check("cos(x)", &FLOATS, libm::cosf);
    check("tan(x)", &FLOATS, libm::tanf);
    check("asin(x)", &FLOATS, libm::asinf);
    check("acos(x)", &FLOATS, libm::acosf);
    check("atan(x)", &FLOATS, libm::atanf);
    check("sinh(x)", &FLOATS, libm::sinhf);
    check("cosh(x)", &FLOATS, libm::coshf);
    check("tanh(x)", &FLOATS, libm::tanhf);
    check("asinh(x)", &FLOATS, libm::asinhf);
    check("acosh(x)", &FLOATS, libm::acoshf);
    check("atanh(x)", &FLOATS, libm::atanhf);
    check("exp(x)", &FLOATS, libm::expf);
    check("exp2(x)", &FLOATS, libm::exp2f);
    check("log(x)", &FLOATS, libm::logf);
    check("log2(x)", &FLOATS, libm::log2f);
    check("atan2(x.x, x.y)", &pairs(&FLOATS), |[a, b]| libm::atan2f(a, b));
    check("pow(x.x, x.y)", &pairs(&FLOATS), |[a, b]| libm::powf(a, b));
}

#[test]
fn libm_is_close_to_rust() {
    for x in [0.1f32, 0.5, 0.9] {
        check("sin(x) + cos(x) * 4.0 + exp(x) * 16.0", &[x], |x| {
            libm::sinf(x) + libm::cosf(x) * 4.0 + libm::expf(x) * 16.0
        });
        assert!((libm::tanf(x) - x.tan()).abs() < 1e-6 && (libm::log2f(x) - x.log2()).abs() < 1e-6);
        assert!((libm::atanhf(x) - x.atanh()).abs() < 1e-6 && (libm::exp2f(x) - x.exp2()).abs() < 1e-6);
    }
}

#[test]
fn modf_subtracts_the_whole_part() {
    check("modf(x).fract", &FLOATS, |a| a - a.trunc());
    check("modf(x).whole", &FLOATS, f32::trunc);
}

#[test]
fn frexp_gives_fraction_and_exponent() {
    let finite: Vec<_> = FLOATS.into_iter().filter(|a| a.is_finite()).collect();
    check("frexp(x).fract", &finite, |a| {
        let mut fraction = f64::from(a);
        while fraction != 0.0 && fraction.abs() < 0.5 {
            fraction *= 2.0;
        }
        while fraction.abs() >= 1.0 {
            fraction /= 2.0;
        }
        fraction as f32
    });
    check("frexp(x).exp", &[8.0f32, 0.5, 0.0, 1e-45, -3.0, f32::NAN], |a| match a {
        8.0 => 4,
        0.5 | 0.0 => 0,
        -3.0 => 2,
        a if a > 0.0 => -148,
        _ => 0,
    });
}

#[test]
fn ldexp_rounds_once() {
    let inputs: Vec<[f32; 2]> = FLOATS
        .iter()
        .flat_map(|&a| [-300.0, -150.0, -149.0, -24.0, -1.0, 0.0, 5.0, 127.0, 200.0, 300.0].map(|e: f32| [a, e]))
        .collect();
    check("ldexp(x.x, i32(x.y))", &inputs, |[a, e]| (f64::from(a) * 2f64.powi(e as i32)) as f32);
}

#[test]
fn mix_step_and_smoothstep_follow_their_formulas() {
    check("mix(x.x, x.y, x.z)", &quadruples(&FLOATS), |[a, b, t, _]| a * (1.0 - t) + b * t);
    check("step(x.x, x.y)", &pairs(&FLOATS), |[edge, a]| if edge <= a { 1.0f32 } else { 0.0 });
    check("smoothstep(x.x, x.y, x.z)", &quadruples(&FLOATS), |[l, h, a, _]| {
        let t = min(max((a - l) / (h - l), 0.0), 1.0);
        t * t * (3.0 - 2.0 * t)
    });
}

#[test]
fn select_takes_one_of_both() {
    check("select(x.x, x.y, x.x < x.y)", &pairs(&FLOATS), |[a, b]| if a < b { b } else { a });
    check("select(x.xy, x.zw, x.xy < x.zw)", &quadruples(&FLOATS), |[a, b, c, d]| {
        [if a < c { c } else { a }, if b < d { d } else { b }]
    });
}

#[test]
fn half_precision_rounds_after_each_operation() {
    let halves: Vec<u16> = (0..=u16::MAX).step_by(97).chain([0, 0x8000, 0x7c00, 0xfc00, 0x7bff, 1, 0x3ff]).collect();
    let inputs = pairs(&halves[halves.len() - 60..]);
    let number = |bits: u16| f16::from_bits(bits).to_f32();
    let round = |value: f32| f16::from_f32(value).to_bits();
    check("x.x + x.y", &inputs, |[a, b]| round(number(a) + number(b)));
    check("x.x * x.y", &inputs, |[a, b]| round(number(a) * number(b)));
    check("x.x * x.y - x.x", &inputs, |[a, b]| round(number(round(number(a) * number(b))) - number(a)));
    check("sin(x)", &halves, |a| round(libm::sinf(number(a))));
    check("length(x)", &inputs, |[a, b]| round((number(a) * number(a) + number(b) * number(b)).sqrt()));
    check("degrees(x)", &halves, |a| round(number(a) * 57.29578));
    check("sqrt(x)", &halves, |a| round(number(a).sqrt()));
    check("f32(x)", &halves, number);
}

#[test]
fn half_conversion_rounds_to_even() {
    // Each number, its successor, the middle between them, and the neighbours of the middle.
    for bits in (0..0x7bffu16).step_by(13) {
        let (low, high) = (f16::from_bits(bits).to_f32(), f16::from_bits(bits + 1).to_f32());
        let middle = (low + high) / 2.0;
        let even = if bits % 2 == 0 { low } else { high };
        check("quantizeToF16(x)", &[low, high, middle, middle.next_down(), middle.next_up()], |x| match x {
            x if x == middle => even,
            x if x < middle => low,
            _ => high,
        });
    }
}

#[test]
fn quantize_overflows_to_infinity() {
    check("quantizeToF16(x)", &[65504.0f32, 65519.0, 65520.0, -1e9, f32::NAN], |x| match x {
        x if x < -65520.0 => f32::NEG_INFINITY,
        x if x >= 65520.0 => f32::INFINITY,
        x if x > 65504.0 => 65504.0,
        x => x,
    });
}

#[test]
fn double_precision_has_64_bits() {
    let inputs = pairs(&[0.1, -2.5, 1e300, -1e-310, f64::NAN, f64::INFINITY, 3.0]);
    check("x.x * x.y + 0.1lf", &inputs, |[a, b]| a * b + 0.1);
    check("fma(x.x, x.y, x.x)", &inputs, |[a, b]: [f64; 2]| a.mul_add(b, a));
    check("sqrt(x.x) / x.y", &inputs, |[a, b]: [f64; 2]| a.sqrt() / b);
    check("exp(x.x)", &inputs, |[a, _]| libm::exp(a));
    check("f32(x.x)", &inputs, |[a, _]| a as f32);
}
