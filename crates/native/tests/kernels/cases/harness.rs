//! Tests of the comparison, of the detection of races and of indices out of range, and of the
//! reduction of failing cases.

use super::{bytes, values};
use crate::compare::{Failure, compare, compile};
use crate::interpreter::{self, Buffers, Options, functions};
use crate::random::{Case, Extensions, random_kernels};

fn buffers(bindings: &[Vec<u8>]) -> Buffers {
    bindings.iter().enumerate().map(|(i, bytes)| ((0, i as u32), bytes.clone())).collect()
}

const COPY: &str = "
    struct S { a: f32, b: u32, @align(16) c: u32 }
    @group(0) @binding(0) var<storage, read_write> out: array<S>;
    @compute @workgroup_size(1) fn main() { out[0].a = 0.0 / out[0].a; }";

#[test]
fn equal_results_agree() {
    let before = buffers(&[bytes(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])]);
    assert_eq!(compare(COPY, &before, [1, 1, 1], interpreter::run), Ok(()));
}

#[test]
fn any_nan_equals_any_nan() {
    let before = buffers(&[bytes(&[0f32; 8])]);
    let with = |word: usize, bits: u32| {
        compare(COPY, &before, [1, 1, 1], |module, info, entry, buffers, groups| {
            interpreter::run(module, info, entry, buffers, groups)?;
            let mut words: Vec<u32> = values(&buffers[&(0, 0)]);
            words[word] = bits;
            buffers.insert((0, 0), bytes(&words));
            Ok(())
        })
    };
    assert_eq!(with(0, 0xffc0_1234), Ok(()));
    assert!(matches!(with(0, 0), Err(Failure::Difference(_))));
    // A member that is no float, and padding.
    assert!(matches!(with(1, 0x7fc0_0000), Err(Failure::Difference(_))));
    assert!(matches!(with(2, 1), Err(Failure::Difference(_))));
}

#[test]
fn failures_of_executor_and_text_are_distinguished() {
    let before = buffers(&[bytes(&[0f32; 8])]);
    let failing = compare(COPY, &before, [1, 1, 1], |_, _, _, _, _| Err("no".into()));
    assert_eq!(failing, Err(Failure::Executor("no".into())));
    assert!(matches!(compare("fn", &before, [1, 1, 1], interpreter::run), Err(Failure::Invalid(_))));
    assert!(matches!(compare(COPY, &Buffers::new(), [1, 1, 1], interpreter::run), Err(Failure::Interpreter(_))));
}

fn check_races(text: &str, length: usize, workgroups: [u32; 3]) -> Result<(), String> {
    let (module, info) = compile(text).unwrap();
    let options = Options { check_races: true, ..Options::default() };
    let mut buffers = buffers(&[bytes(&vec![0u32; length])]);
    interpreter::run_with(&options, &module, &info, "main", &mut buffers, workgroups)
}

#[test]
fn data_races_are_found() {
    let kernel = |body: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            var<workgroup> w: array<u32, 4>;
            @compute @workgroup_size(4)
            fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {{
                {body}
            }}"
        )
    };
    let racy = [
        "out[0] = id.x;",
        "out[id.x] = out[id.x + 1u];",
        "w[local] = 1u; out[id.x] = w[local ^ 1u];",
        "w[local] = 1u; workgroupBarrier(); out[id.x] = w[local ^ 1u]; w[local] = 2u;",
        "out[id.x] = 1u; storageBarrier(); out[(id.x + 4u) % 8u] = 2u;",
    ];
    for body in racy {
        assert!(check_races(&kernel(body), 8, [2, 1, 1]).is_err(), "{body}");
    }
    let sound = [
        "out[id.x] = id.x; out[id.x] += out[id.x];",
        "w[local] = 1u; workgroupBarrier(); out[id.x] = w[local ^ 1u]; workgroupBarrier(); w[local] = 2u;",
        "out[id.x] = 1u; storageBarrier(); out[id.x ^ 1u] = 2u;",
        "out[id.x + 8u] = 1u;",
    ];
    for body in sound {
        assert_eq!(check_races(&kernel(body), 8, [2, 1, 1]), Ok(()), "{body}");
    }
    let atomics = "
        @group(0) @binding(0) var<storage, read_write> out: atomic<u32>;
        @compute @workgroup_size(4) fn main() { atomicAdd(&out, 1u); }";
    assert_eq!(check_races(atomics, 1, [2, 1, 1]), Ok(()));
}

#[test]
fn indices_out_of_range_are_found() {
    let run = |body: &str| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
            var<workgroup> w: array<u32, 4>;
            var<private> p: mat2x3<f32>;
            @compute @workgroup_size(4)
            fn main(@builtin(local_invocation_index) local: u32) {{ {body} }}"
        );
        let (module, info) = compile(&text).unwrap();
        let options = Options { check_ranges: true, ..Options::default() };
        interpreter::run_with(&options, &module, &info, "main", &mut buffers(&[bytes(&[0u32; 4])]), [1, 1, 1])
    };
    for body in [
        "out[local + 1u] = 1u;",
        "out[0] = out[local + 1u];",
        "w[local + 1u] = 1u;",
        "p[local / 2u][local] = 1.0;",
        "out[0] = u32(p[local].x);",
        "let v = vec3(local); out[local] = v[local];",
        "let a = array<u32, 3>(); out[local] = a[local];",
    ] {
        assert_eq!(run(body), Err("an index out of range".into()), "{body}");
    }
    for body in ["out[local] = w[local];", "p[local / 2u][local % 3u] = 1.0;", "let p = &w[local + 1u];"] {
        assert_eq!(run(body), Ok(()), "{body}");
    }
}

#[test]
fn functions_of_the_library_can_be_replaced() {
    struct Half;
    impl functions::Functions for Half {
        fn single(&self, function: functions::LibraryFunction, x: f32, y: f32) -> f32 {
            if function == functions::LibraryFunction::Pow { y } else { x / 2.0 }
        }

        fn double(&self, _: functions::LibraryFunction, x: f64, _: f64) -> f64 {
            x
        }
    }
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1) fn main() { out[0] = sin(out[0]); out[1] = pow(out[0], out[1]); }";
    let (module, info) = compile(text).unwrap();
    let options = Options { functions: &Half, ..Options::default() };
    let mut buffers = buffers(&[bytes(&[8f32, 3.0])]);
    interpreter::run_with(&options, &module, &info, "main", &mut buffers, [1, 1, 1]).unwrap();
    assert_eq!(values::<f32>(&buffers[&(0, 0)]), [4.0, 3.0]);
}

/// The interpreter with an error: `max` in the entry point is `min`.
fn mistaken(
    module: &naga::Module,
    info: &naga::valid::ModuleInfo,
    entry: &str,
    buffers: &mut Buffers,
    workgroups: [u32; 3],
) -> Result<(), String> {
    let mut module = module.clone();
    for point in &mut module.entry_points {
        for (_, expression) in point.function.expressions.iter_mut() {
            if let naga::Expression::Math { fun: fun @ naga::MathFunction::Max, .. } = expression {
                *fun = naga::MathFunction::Min;
            }
        }
    }
    interpreter::run(&module, info, entry, buffers, workgroups)
}

#[test]
fn failing_case_is_reduced() {
    let mut failures = (0..).flat_map(|seed| random_kernels(1, seed, mistaken).failures);
    let (case, failure) = failures.next().unwrap();
    assert!(matches!(failure, Failure::Difference(_)));
    let text = case.text();
    assert!(text.contains("max("), "{case}");
    let original = Case::generate(case.seed, Extensions::ALL).unwrap().text();
    assert!(text.len() * 2 < original.len(), "{case}");
}
