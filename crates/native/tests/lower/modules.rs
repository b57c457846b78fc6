//! Constructs of naga's representation without a WGSL form.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{BinaryOperator, Expression, MathFunction, Module, RelationalFunction, Statement};
use zippy_native::lower::lower;

use crate::bits;
use crate::evaluator::Evaluator;
use crate::verifier::verify;

/// Parses a text, changes the module, and runs `main` over `out` and `input`.
fn run_changed(body: &str, input: &[u32], words: usize, change: impl FnOnce(&mut Module)) -> Vec<u32> {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         @group(0) @binding(1) var<storage, read> input: array<u32>;
         @compute @workgroup_size(1) fn main() {{ {body} }}"
    );
    let mut module =
        naga::front::wgsl::parse_str(&source).unwrap_or_else(|error| panic!("{}", error.emit_to_string(&source)));
    change(&mut module);
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    let info = validator.validate(&module).unwrap_or_else(|error| panic!("{error:?}"));
    let kernel = lower(&module, &info, "main").unwrap();
    verify(&kernel);
    let input = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut evaluator = Evaluator::new(&kernel, vec![vec![0; words * 4], input]);
    evaluator.run();
    evaluator.bindings[0].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn change_expressions(module: &mut Module, mut change: impl FnMut(&mut Expression)) {
    module.entry_points[0].function.expressions.iter_mut().for_each(|(_, expression)| change(expression));
}

#[test]
fn cases_fall_through_to_the_next_case() {
    let body = "var n = 0u; switch (input[0]) {
            case 1u: { n += 1u; } case 2u: { n += 10u; } default: { n += 100u; } case 4u: { n += 1000u; } case 5u: { n += 10000u; }
        } out[0] = n;";
    for (selector, expected) in [(1, 11), (2, 10), (3, 1100), (4, 1000), (5, 10000)] {
        let out = run_changed(body, &[selector], 1, |module| {
            for statement in module.entry_points[0].function.body.iter_mut() {
                if let Statement::Switch { cases, .. } = statement {
                    cases[0].fall_through = true;
                    cases[2].fall_through = true;
                }
            }
        });
        assert_eq!(out, [expected], "{selector}");
    }
}

#[test]
fn inverse_of_matrices_is_the_adjugate_over_the_determinant() {
    let change = |module: &mut Module| {
        change_expressions(module, |expression| {
            if let Expression::Math { fun, .. } = expression
                && *fun == MathFunction::Transpose
            {
                *fun = MathFunction::Inverse;
            }
        });
    };
    let body = "let a = bitcast<vec4<f32>>(vec4(input[0], input[1], input[2], input[3]));
        let m = mat2x2(a.xy, a.zw); let i = transpose(m); let p = m * i;
        out[0] = bitcast<u32>(i[0].x); out[1] = bitcast<u32>(i[0].y); out[2] = bitcast<u32>(i[1].x); out[3] = bitcast<u32>(i[1].y);
        let n = mat4x4(a, a.yxwz, a.zwyx, vec4(1.0, 0.0, 0.0, 2.0)); let q = transpose(n) * n;
        let e = abs(q[0] - vec4(1.0, 0.0, 0.0, 0.0)) + abs(q[1] - vec4(0.0, 1.0, 0.0, 0.0)) + abs(q[3] - vec4(0.0, 0.0, 0.0, 1.0));
        out[4] = u32(max(max(e.x, e.y), max(e.z, e.w)) < 1e-4);
        let t = mat3x3(a.xyz, a.yzw, a.zzx); let r = t * transpose(t);
        let f = abs(r[0] - vec3(1.0, 0.0, 0.0)) + abs(r[1] - vec3(0.0, 1.0, 0.0)) + abs(r[2] - vec3(0.0, 0.0, 1.0));
        out[5] = u32(max(f.x, max(f.y, f.z)) < 1e-4);";
    let (a, b, c, d) = (2.0_f32, 3.0, 5.0, 8.5);
    let out = run_changed(body, &bits(&[a, b, c, d]), 6, change);
    let determinant = a * d - b * c;
    assert_eq!(out[..4], bits(&[d / determinant, -b / determinant, -c / determinant, a / determinant]));
    assert_eq!(out[4..], [1, 1]);
}

#[test]
fn outer_product_has_a_column_for_each_element_of_its_second_operand() {
    let body = "let a = bitcast<vec2<f32>>(vec2(input[0], input[1])); let b = bitcast<vec2<f32>>(vec2(input[2], input[3]));
        let m = mat2x2(a, b);
        out[0] = bitcast<u32>(m[0].x); out[1] = bitcast<u32>(m[0].y); out[2] = bitcast<u32>(m[1].x); out[3] = bitcast<u32>(m[1].y);";
    let out = run_changed(body, &bits(&[2.0, 3.0, 5.0, 7.0]), 4, |module| {
        let types = module.types.clone();
        change_expressions(module, |expression| {
            if let Expression::Compose { ty, components } = expression
                && matches!(types[*ty].inner, naga::TypeInner::Matrix { .. })
            {
                *expression = Expression::Math {
                    fun: MathFunction::Outer,
                    arg: components[0],
                    arg1: Some(components[1]),
                    arg2: None,
                    arg3: None,
                };
            }
        });
    });
    assert_eq!(out, bits(&[10.0, 15.0, 14.0, 21.0]));
}

#[test]
fn is_nan_and_is_inf_test_bits() {
    let body = "let a = bitcast<f32>(input[0]); out[0] = u32(a != a); out[1] = u32(a == a);";
    for (value, expected) in [(f32::NAN, [1, 0]), (f32::INFINITY, [0, 1]), (-1.0, [0, 0]), (f32::NEG_INFINITY, [0, 1])]
    {
        let out = run_changed(body, &bits(&[value]), 2, |module| {
            change_expressions(module, |expression| {
                if let Expression::Binary { op, left, .. } = *expression {
                    let fun = match op {
                        BinaryOperator::NotEqual => RelationalFunction::IsNan,
                        BinaryOperator::Equal => RelationalFunction::IsInf,
                        _ => return,
                    };
                    *expression = Expression::Relational { fun, argument: left };
                }
            });
        });
        assert_eq!(out, expected, "{value}");
    }
}
