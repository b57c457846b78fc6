//! Errors of the scalar functions, with references from `libm` for `f64` (errors below 10⁻⁸ ulp of
//! `f32`).

use super::{FORMULAS, Random, expansion::expansion, scalar, special_values};
use crate::ir::Function;
use crate::math::double;

/// Step between the bits of consecutive samples, a prime.
const STRIDE: usize = 6_007;

/// Operand between 10³ and 10⁵ with the most cancellation against an odd multiple of π/2.
const NEAR_POLE: f32 = 52_516.434;

/// Row of the table in the documentation of [`crate::math`].
struct AccuracyRow {
    operations: usize,
    max_error: f64,
    low: f32,
    high: f32,
}

fn row(function: Function) -> AccuracyRow {
    let name = format!("| `{}` |", format!("{function:?}").to_lowercase());
    let line = include_str!("../mod.rs").lines().find_map(|line| line.strip_prefix("//! ")?.strip_prefix(&name));
    let line = line.unwrap_or_else(|| panic!("no row of {function:?}"));
    let cells: Vec<_> = line.split('|').map(str::trim).collect();
    let number = |text: &str| text.parse::<f32>().unwrap_or_else(|_| panic!("{text} in the row of {function:?}"));
    let (low, high) = match cells[2] {
        "all" => (f32::NEG_INFINITY, f32::INFINITY),
        domain => {
            let limit = number(domain.strip_prefix('±').unwrap_or(domain));
            (-limit, limit)
        }
    };
    AccuracyRow { operations: number(cells[0]) as usize, max_error: number(cells[1]).into(), low, high }
}

pub(super) fn reference(function: Function, x: f64, y: f64) -> f64 {
    match function {
        Function::Sin => double::sin(x),
        Function::Cos => double::cos(x),
        Function::Tan => double::tan(x),
        Function::Asin => double::asin(x),
        Function::Acos => double::acos(x),
        Function::Atan => double::atan(x),
        Function::Atan2 => double::atan2(x, y),
        Function::Sinh => double::sinh(x),
        Function::Cosh => double::cosh(x),
        Function::Tanh => double::tanh(x),
        Function::Asinh => double::asinh(x),
        Function::Acosh => double::acosh(x),
        Function::Atanh => double::atanh(x),
        Function::Exp => double::exp(x),
        Function::Exp2 => double::exp2(x),
        Function::Log => double::log(x),
        Function::Log2 => double::log2(x),
        Function::Pow => double::pow(x, y),
        Function::Fma => unreachable!("has no formula"),
    }
}

/// Error in ulp of the exact result. NaN, infinity and the sign of zero must agree.
#[track_caller]
fn error(function: Function, x: f32, y: f32) -> f64 {
    let result = scalar(function, x, y);
    let exact = reference(function, x.into(), y.into());
    let rounded = exact as f32;
    let context = || format!("{function:?}({x:e}, {y:e}) = {result:e}, exactly {exact:e}");
    assert_eq!(result.is_nan(), exact.is_nan(), "{}", context());
    if exact.is_nan() {
        return 0.0;
    }
    if result == 0.0 && rounded == 0.0 || result.is_infinite() {
        assert_eq!(result.is_sign_negative(), exact.is_sign_negative(), "{}", context());
    }
    if result == rounded {
        return if result.is_infinite() { 0.0 } else { (f64::from(result) - exact).abs() / last_place(exact) };
    }
    assert!(result.is_finite() && rounded.is_finite(), "{}", context());
    (f64::from(result) - exact).abs() / last_place(exact)
}

fn last_place(value: f64) -> f64 {
    let exponent = (value.abs().to_bits() >> 52) as i32 - 1023;
    2f64.powi(exponent.max(-126) - 23)
}

#[test]
fn errors_and_operations_are_as_documented() {
    for (function, operands) in FORMULAS {
        let row = row(function);
        let expansion = expansion(function, operands);
        println!(
            "{function:?}: {} operations, {} conversions of bits",
            expansion.count_operations(),
            expansion.count_bit_conversions()
        );
        let mut worst = (0.0, 0.0, 0.0);
        let mut check = |x: f32, y: f32| {
            if row.low <= x && x <= row.high {
                let error = error(function, x, y);
                if error > worst.0 {
                    worst = (error, x, y);
                }
            }
        };
        if operands == 1 {
            (0..=u32::MAX).step_by(STRIDE).for_each(|bits| check(f32::from_bits(bits), 0.0));
            check(NEAR_POLE, 0.0);
        } else {
            sample_pairs(function, &mut check);
        }
        println!("    {:.3} ulp at ({:e}, {:e})", worst.0, worst.1, worst.2);
        assert_eq!(expansion.count_operations(), row.operations, "operations of {function:?}");
        assert!(worst.0 <= row.max_error, "error of {function:?} at ({:e}, {:e}): {}", worst.1, worst.2, worst.0);
    }
}

/// Calls `check` for operands of any bits and, for powers, operands with finite results.
fn sample_pairs(function: Function, check: &mut impl FnMut(f32, f32)) {
    let mut random = Random::new(11);
    for _ in 0..200_000 {
        check(random.next_float(), random.next_float());
        check(random.next_between(-10.0, 10.0), (random.next_bits() % 61) as f32 - 30.0);
        let base = if random.next_bits() & 1 == 0 { random.next_float() } else { random.next_between(0.0, 2.0) };
        let logarithm = random.next_between(-150.0, 129.0);
        let exponent = if function == Function::Pow { logarithm / base.abs().log2() } else { logarithm };
        check(base.abs(), exponent);
    }
}

#[test]
fn special_values_give_special_results_of_ieee() {
    let special = special_values();
    for (function, operands) in FORMULAS {
        let row = row(function);
        for &x in &special {
            for &y in special.iter().take(if operands == 1 { 1 } else { special.len() }) {
                if x.is_finite() && x.abs() > row.high {
                    assert!(scalar(function, x, y).is_finite(), "{function:?}({x:e})");
                } else {
                    let error = error(function, x, y);
                    assert!(error <= row.max_error, "error of {function:?}({x:e}, {y:e}): {error}");
                }
            }
        }
    }
}

#[test]
fn sine_and_cosine_of_large_operands_stay_in_range() {
    let mut random = Random::new(3);
    for _ in 0..200_000 {
        let x = random.next_float();
        if x.is_finite() {
            for function in [Function::Sin, Function::Cos] {
                assert!(scalar(function, x, 0.0).abs() <= 1.0, "{function:?}({x:e})");
            }
            assert!(scalar(Function::Tan, x, 0.0).is_finite(), "tan({x:e})");
        }
    }
}

#[test]
fn sine_and_cosine_up_to_ten_million_err_by_less_than_their_operand() {
    let mut random = Random::new(5);
    for _ in 0..200_000 {
        let x = random.next_between(-1e7, 1e7);
        let (sin, cos) = (scalar(Function::Sin, x, 0.0), scalar(Function::Cos, x, 0.0));
        let (exact_sin, exact_cos) = f64::from(x).sin_cos();
        let error = (f64::from(sin) - exact_sin).abs().max((f64::from(cos) - exact_cos).abs());
        assert!(error <= 1e-6 + last_place(x.into()), "{x:e}: {error:e}");
    }
}
