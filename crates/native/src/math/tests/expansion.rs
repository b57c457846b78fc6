//! Comparison of expansions with scalar functions, bit by bit.

use super::interpreter::Expansion;
use super::{FORMULAS, Random, scalar, special_values};
use crate::ir::{Compare, Definition, Function, Kernel, Statement, Type};
use crate::math;

pub(super) fn expansion(function: Function, operands: usize) -> Expansion {
    Expansion::new(&vec![Type::F32; operands], |kernel, out, values| math::expand(kernel, out, function, values))
        .unwrap_or_else(|| panic!("{function:?} has no expansion"))
}

/// Compares one result; the bits of NaN may differ.
#[track_caller]
fn assert_same(function: Function, expansion: &mut Expansion, x: f32, y: f32) {
    let operands = [x.to_bits(), y.to_bits()];
    let operands = if matches!(function, Function::Pow | Function::Atan2) { &operands[..] } else { &operands[..1] };
    let expanded = f32::from_bits(expansion.run(operands));
    let expected = scalar(function, x, y);
    assert!(
        expanded.to_bits() == expected.to_bits() || expanded.is_nan() && expected.is_nan(),
        "{function:?}({x:e}, {y:e}): expansion {expanded:e}, scalar {expected:e}"
    );
}

#[test]
fn expansions_have_bits_of_scalar_functions() {
    let special = special_values();
    for (function, operands) in FORMULAS {
        let mut expansion = expansion(function, operands);
        assert_eq!(expansion.result_type(), Type::F32);
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
        for _ in 0..50_000 {
            assert_same(function, &mut expansion, random.next_float(), random.next_float());
            let (x, y) = (random.next_between(-4.0, 4.0), random.next_between(-9.0, 9.0));
            assert_same(function, &mut expansion, x, y);
        }
        for &x in &special {
            for &y in &special {
                assert_same(function, &mut expansion, x, y);
            }
        }
    }
}

#[test]
fn fma_and_functions_of_f64_have_no_expansion() {
    let absent = |ty, function, operands| {
        Expansion::new(&vec![ty; operands], |kernel, out, values| math::expand(kernel, out, function, values)).is_none()
    };
    assert!(absent(Type::F32, Function::Fma, 3));
    for (function, operands) in FORMULAS {
        assert!(absent(Type::F64, function, operands), "{function:?}");
    }
}

#[test]
fn expansion_follows_statements_that_are_there() {
    let mut kernel = Kernel::default();
    let x = kernel.add(Type::F32, Definition::Result);
    let condition = kernel.add(Type::Bool, Definition::Compare(Compare::FloatLess, x, x));
    let mut out = vec![Statement::Let(condition)];
    let result = math::expand(&mut kernel, &mut out, Function::Exp, &[x]).expect("an expansion");
    assert_eq!(out[0], Statement::Let(condition));
    assert_eq!(out.last(), Some(&Statement::Let(result)));
    let constants = kernel.values.iter().filter(|value| matches!(value.1, Definition::Constant(_)));
    assert_eq!(constants.count() + out.len() + 1, kernel.values.len());
}

fn power_by(exponent: f32) -> Expansion {
    Expansion::new(&[Type::F32], |kernel, out, values| {
        let exponent = kernel.add(Type::F32, Definition::Constant(exponent.to_bits().into()));
        math::expand(kernel, out, Function::Pow, &[values[0], exponent])
    })
    .expect("an expansion")
}

#[test]
fn power_by_constant_has_bits_of_general_power_and_fewer_operations() {
    assert_eq!(power_by(2.0).count_operations(), 1);
    assert!(power_by(0.0).count_operations() == 0);
    let general = expansion(Function::Pow, 2).count_operations();
    for exponent in [0.5, 1.0, 1.5, 2.0, 2.2, 3.0, -1.0, 0.0, f32::INFINITY, f32::NAN] {
        let mut expansion = power_by(exponent);
        println!("x^{exponent}: {} operations", expansion.count_operations());
        assert!(expansion.count_operations() <= general - 20, "x^{exponent}");
        let mut random = Random::new(23);
        for x in special_values().into_iter().chain((0..2_000).map(|_| random.next_float())) {
            let (expanded, expected) =
                (f32::from_bits(expansion.run(&[x.to_bits()])), scalar(Function::Pow, x, exponent));
            assert!(
                expanded.to_bits() == expected.to_bits() || expanded.is_nan() && expected.is_nan(),
                "{x:e}^{exponent:e}: expansion {expanded:e}, scalar {expected:e}"
            );
        }
    }
}

#[test]
fn function_of_constant_is_constant() {
    let mut kernel = Kernel::default();
    let x = kernel.add(Type::F32, Definition::Constant(0.75_f32.to_bits().into()));
    for (function, operands) in FORMULAS {
        let mut out = Vec::new();
        let result = math::expand(&mut kernel, &mut out, function, &vec![x; operands]).expect("an expansion");
        assert!(out.is_empty(), "{function:?}");
        let expected = scalar(function, 0.75, 0.75);
        match kernel.definition(result) {
            Definition::Constant(bits) if expected.is_nan() => assert!(f32::from_bits(*bits as u32).is_nan()),
            definition => assert_eq!(definition, &Definition::Constant(expected.to_bits().into()), "{function:?}"),
        }
    }
}
