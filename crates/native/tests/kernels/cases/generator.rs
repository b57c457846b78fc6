use std::collections::BTreeSet;

use naga::{Block, Expression, Statement};

use crate::compare::compile;
use crate::edges::edge_kernels;
use crate::interpreter;
use crate::random::{Case, Extensions, count, first_seed, random_kernels, random_kernels_with};

#[test]
fn random_kernels_validate_and_run_the_same_twice() {
    let report = random_kernels(count(200), first_seed(0), interpreter::run);
    assert!(report.failures.is_empty() && report.discarded.is_empty(), "{report} {:?}", report.discarded);
}

#[test]
fn random_kernels_have_no_races_and_no_order() {
    for seed in 1000..1060 {
        let case = Case::generate(seed, Extensions::ALL).unwrap();
        if let Err(failure) = case.check_order() {
            panic!("{failure}\n{case}");
        }
    }
}

#[test]
fn case_of_a_seed_is_always_the_same() {
    let [a, b] = [7, 7].map(|seed| Case::generate(seed, Extensions::ALL).unwrap());
    assert_eq!((a.text(), a.buffers), (b.text(), b.buffers));
}

#[test]
fn kernels_without_extensions_use_basic_types() {
    for seed in 0..50 {
        let text = Case::generate(seed, Extensions::NONE).unwrap().text();
        assert!(!["f16", "f64", "i64", "u64"].iter().any(|ty| text.contains(ty)), "{text}");
    }
}

#[test]
fn kernels_without_extensions_have_indices_in_range() {
    let options = interpreter::Options { check_ranges: true, ..interpreter::Options::default() };
    let report = random_kernels_with(&options, Extensions::NONE, count(200), first_seed(0), interpreter::run);
    assert!(report.failures.is_empty() && report.discarded.is_empty(), "{report} {:?}", report.discarded);
}

fn collect(block: &Block, names: &mut BTreeSet<String>) {
    for statement in block.iter() {
        let name = format!("{statement:?}");
        let name = name.split([' ', '(', '{']).next().unwrap_or_default().to_string();
        names.insert(name);
        match statement {
            Statement::Block(block) => collect(block, names),
            Statement::If { accept, reject, .. } => {
                collect(accept, names);
                collect(reject, names);
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| collect(&case.body, names)),
            Statement::Loop { body, continuing, break_if } => {
                collect(body, names);
                collect(continuing, names);
                if break_if.is_some() {
                    names.insert("break_if".into());
                }
            }
            Statement::Atomic { fun, .. } => {
                names.insert(format!("Atomic {fun:?}").split(' ').take(2).collect::<Vec<_>>().join(" "));
            }
            _ => {}
        }
    }
}

#[test]
fn random_kernels_cover_the_language() {
    let mut names = BTreeSet::new();
    for seed in 0..400 {
        let (module, _) = compile(&Case::generate(seed, Extensions::ALL).unwrap().text()).unwrap();
        let functions = module.functions.iter().map(|(_, function)| function);
        for function in functions.chain(module.entry_points.iter().map(|point| &point.function)) {
            collect(&function.body, &mut names);
            for (_, expression) in function.expressions.iter() {
                let name = match expression {
                    Expression::Math { fun, .. } => format!("{fun:?}"),
                    Expression::Binary { op, .. } => format!("{op:?}"),
                    Expression::Unary { op, .. } => format!("{op:?}"),
                    Expression::Relational { fun, .. } => format!("{fun:?}"),
                    Expression::As { kind, convert, .. } => format!("As {kind:?} {convert:?}"),
                    other => format!("{other:?}").split([' ', '(']).next().unwrap_or_default().to_string(),
                };
                names.insert(name);
            }
        }
    }
    let expected = "
        Abs Min Max Clamp Saturate Cos Cosh Sin Sinh Tan Tanh Acos Asin Atan Atan2 Asinh Acosh Atanh Radians Degrees
        Ceil Floor Round Fract Trunc Modf Frexp Ldexp Exp Exp2 Log Log2 Pow Dot Dot4I8Packed Dot4U8Packed Cross
        Distance Length Normalize FaceForward Reflect Refract Sign Fma Mix Step SmoothStep Sqrt InverseSqrt Transpose
        Determinant QuantizeToF16 CountTrailingZeros CountLeadingZeros CountOneBits ReverseBits ExtractBits InsertBits
        FirstTrailingBit FirstLeadingBit Pack4x8snorm Pack4x8unorm Pack2x16snorm Pack2x16unorm Pack2x16float Pack4xI8
        Pack4xU8 Pack4xI8Clamp Pack4xU8Clamp Unpack4x8snorm Unpack4x8unorm Unpack2x16snorm Unpack2x16unorm
        Unpack2x16float Unpack4xI8 Unpack4xU8 Add Subtract Multiply Divide Modulo Equal NotEqual Less LessEqual Greater
        GreaterEqual And ExclusiveOr InclusiveOr ShiftLeft ShiftRight Negate LogicalNot BitwiseNot All Any Literal
        Constant ZeroValue Compose Access AccessIndex Splat Swizzle FunctionArgument GlobalVariable LocalVariable Load
        Select CallResult AtomicResult WorkGroupUniformLoadResult ArrayLength Emit Block If Switch Loop Break Continue
        Return ControlBarrier Store Atomic WorkGroupUniformLoad Call break_if";
    let missing: Vec<_> = expected.split_whitespace().filter(|name| !names.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?} in {names:?}");
}

#[test]
fn edge_kernels_run_the_same_twice() {
    let (count, failures) = edge_kernels(&interpreter::Options::default(), Extensions::ALL, interpreter::run);
    assert!(count > 500);
    let messages = failures.iter().map(|(text, failure)| format!("{failure}\n{text}")).collect::<String>();
    assert!(failures.is_empty(), "{messages}");
}
