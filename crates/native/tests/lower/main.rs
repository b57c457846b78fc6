//! Tests of lowering, by evaluation of lowered kernels.

mod access;
mod atomics;
mod calls;
mod conversions;
mod evaluator;
mod float_functions;
mod half;
mod integer_functions;
mod layout;
mod limits;
mod modules;
mod operators;
mod packing;
mod random;
mod shaders;
mod statements;
mod unrolling;
mod vector_functions;
mod verifier;

use std::fmt::Write;

use evaluator::Evaluator;
use zippy_native::ir::Kernel;
use zippy_native::lower::{LoweringOptions, Unsupported, lower_with, lower_with_source};

fn validate(source: &str) -> (naga::Module, naga::valid::ModuleInfo) {
    let module =
        naga::front::wgsl::parse_str(source).unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
    let info = validator.validate(&module).unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
    (module, info)
}

/// Lowers the entry point `main` of a text.
fn try_lower(source: &str) -> Result<Kernel, Unsupported> {
    let (module, info) = validate(source);
    lower_with_source(&module, &info, "main", source)
}

fn lower(source: &str) -> Kernel {
    let kernel = try_lower(source).unwrap_or_else(|error| panic!("{error}"));
    verifier::verify(&kernel);
    kernel
}

/// Runs one invocation over a binding `out` of `words` words and an input binding, with and without
/// unrolled loops.
fn run_with(source: &str, input: &[u32], words: usize) -> Vec<u32> {
    let (module, info) = validate(source);
    let [unrolled, rolled] = [true, false].map(|unroll| {
        let kernel = lower_with(&module, &info, "main", LoweringOptions { source, unroll }).unwrap();
        verifier::verify(&kernel);
        run_kernel(&kernel, input, words)
    });
    assert_eq!(unrolled, rolled);
    unrolled
}

fn run_kernel(kernel: &Kernel, input: &[u32], words: usize) -> Vec<u32> {
    let bindings = kernel
        .bindings
        .iter()
        .map(|binding| match binding.name.as_str() {
            "out" => vec![0; words * 4],
            _ => input.iter().flat_map(|word| word.to_le_bytes()).collect(),
        })
        .collect();
    let mut evaluator = Evaluator::new(kernel, bindings);
    evaluator.run();
    let out = kernel.bindings.iter().position(|binding| binding.name == "out").expect("a binding `out`");
    let bytes = &evaluator.bindings[out];
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Runs `body` as the body of `main` with `out: array<u32>` and `input: array<u32>`.
fn run_body(declarations: &str, body: &str, input: &[u32], words: usize) -> Vec<u32> {
    let source = format!(
        "enable f16;\n\
         @group(0) @binding(0) var<storage, read_write> out: array<u32>;\n\
         @group(0) @binding(1) var<storage, read> input: array<u32>;\n\
         {declarations}\n\
         @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{\n{body}\n}}"
    );
    run_with(&source, input, words)
}

/// Values of expressions of `a`, `b`, `c` and `d`, the elements of `input` as `ty`, each as a
/// `u32`. Constant operands must give the same values.
fn evaluate(ty: &str, expressions: &[&str], input: &[u32]) -> Vec<u32> {
    let (mut loads, mut constants, mut stores) = (String::new(), String::new(), String::new());
    for ((name, index), word) in ["a", "b", "c", "d"].iter().zip(0..).zip(input) {
        let _ = writeln!(loads, "let {name} = bitcast<{ty}>(input[{index}]);");
        // Naga does not fold values of variables.
        let _ = writeln!(constants, "var word{index} = {word}u; let {name} = bitcast<{ty}>(word{index});");
    }
    for (index, expression) in expressions.iter().enumerate() {
        let _ = writeln!(stores, "out[{index}] = {expression};");
    }
    let values = run_body("", &(loads + &stores), input, expressions.len());
    assert_eq!(run_body("", &(constants + &stores), input, expressions.len()), values, "{expressions:?} of {input:x?}");
    values
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Value of an expression of the floats `a`, `b`, `c` and `d`.
fn float(expression: &str, input: &[f32]) -> f32 {
    let expression = format!("bitcast<u32>({expression})");
    f32::from_bits(evaluate("f32", &[&expression], &bits(input))[0])
}

/// Value of an expression of the integers `a`, `b`, `c` and `d`.
fn signed(expression: &str, input: &[i32]) -> i32 {
    let input: Vec<_> = input.iter().map(|value| *value as u32).collect();
    evaluate("i32", &[&format!("bitcast<u32>({expression})")], &input)[0] as i32
}

/// Value of an expression of the unsigned integers `a`, `b`, `c` and `d`.
fn unsigned(expression: &str, input: &[u32]) -> u32 {
    evaluate("u32", &[expression], input)[0]
}
