use std::collections::HashSet;

use super::{FORMULAS, Random, special_values};
use crate::ir::{Function, Type};
use crate::math::{call_of, scalar};

#[test]
fn every_function_has_a_call_for_each_type_of_float() {
    let mut symbols = HashSet::new();
    for (function, operands) in FORMULAS.into_iter().chain([(Function::Fma, 3)]) {
        for ty in [Type::F32, Type::F64] {
            let call = call_of(function, ty).unwrap_or_else(|| panic!("{function:?} of {ty:?}"));
            assert_eq!(call.operands, operands, "{}", call.symbol);
            assert!(symbols.insert(call.symbol), "{}", call.symbol);
            assert!(!call.address.is_null());
        }
        assert!(call_of(function, Type::I32).is_none());
    }
}

#[track_caller]
fn assert_fused(a: f32, b: f32, c: f32) {
    let (fused, expected) = (scalar::fma(a, b, c), a.mul_add(b, c));
    assert!(
        fused.to_bits() == expected.to_bits() || fused.is_nan() && expected.is_nan(),
        "fma({a:e}, {b:e}, {c:e}) = {fused:e}, not {expected:e}"
    );
}

#[test]
fn fma_rounds_once() {
    let mut random = Random::new(7);
    for _ in 0..200_000 {
        let (a, b, c) = (random.next_float(), random.next_float(), random.next_float());
        assert_fused(a, b, c);
        let near = f32::from_bits((-(a * b)).to_bits().wrapping_add(random.next_bits() % 5).wrapping_sub(2));
        assert_fused(a, b, near);
        // Products of about half an ulp of a subnormal number.
        let half_unit = (2f64.powi(-150 + (random.next_bits() % 4) as i32) / f64::from(a)) as f32;
        assert_fused(a, half_unit, f32::from_bits(c.to_bits() & 0x807f_ffff));
    }
    let special = special_values();
    for &a in &special {
        for &b in &special {
            special.iter().step_by(3).for_each(|&c| assert_fused(a, b, c));
        }
    }
}

#[test]
fn fma_of_subnormal_does_not_round_twice() {
    // Products just below and just above half an ulp, added to a number with a last bit of 1.
    let (a, next) = (2f32.powi(-75), f32::EPSILON);
    let odd = f32::from_bits(0x0040_0001);
    assert_eq!(scalar::fma(a * (1.0 + next), a * (1.0 - next), odd), odd);
    assert_eq!(scalar::fma(a * (1.0 + next), a * (1.0 + next), odd), f32::from_bits(0x0040_0002));
}
