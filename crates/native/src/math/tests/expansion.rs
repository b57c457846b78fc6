//! An expansion gives the bits of its scalar twin.

use super::interpreter::Expansion;
use super::{FORMULAS, Random, scalar, special_values};
use crate::ir::{Compare, Definition, Function, Kernel, Statement, Type};
use crate::math;

pub fn expansion(function: Function, operands: usize) -> Expansion {
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
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
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
