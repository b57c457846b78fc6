//! Kernels with large private and workgroup memory, and with many values.

use std::fmt::Write;

use zippy_native::{CompiledKernel, Error, Vectorization};

use crate::compare::compile;
use crate::interpreter::Buffers;
use crate::machine_code::run;

const HEADER: &str = "@group(0) @binding(0) var<storage, read_write> out: array<f32>;\n";

/// Compiles a kernel, runs it for two invocations on a thread with a stack of 1 MiB, and returns
/// their results.
fn results(text: &str) -> Result<Vec<f32>, String> {
    let work = || {
        let (module, info) = compile(text)?;
        let mut buffers: Buffers = [((0, 0), bytemuck::cast_slice(&[1.5_f32, 2.5]).to_vec())].into_iter().collect();
        run(Vectorization::Use, &module, &info, "main", &mut buffers, [1, 1, 1])?;
        Ok(bytemuck::cast_slice(&buffers[&(0, 0)]).to_vec())
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, work);
        thread.unwrap().join().unwrap()
    })
}

fn nested_calls(depth: usize, length: usize) -> String {
    let mut text = String::from(HEADER);
    text.push_str("fn f0(i: u32) -> f32 { return out[i]; }\n");
    for number in 1..=depth {
        let _ = writeln!(
            text,
            "fn f{number}(i: u32) -> f32 {{
                 var a: array<f32, {length}>;
                 a[(i + {number}u) * 7u] = out[i];
                 let inner = f{}(i);
                 return inner + a[(i + {number}u) * 7u];
             }}",
            number - 1
        );
    }
    let _ = writeln!(
        text,
        "@compute @workgroup_size(2) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
             out[id.x] = f{depth}(id.x);
         }}"
    );
    text
}

#[test]
fn large_private_and_local_arrays_run_up_to_the_limit() {
    let text = |declarations: &str, local: &str, length: usize| {
        format!(
            "{HEADER} {declarations}
            @compute @workgroup_size(2) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                {local}
                a[id.x * {}u] = out[id.x] + 1.0;
                out[id.x] = a[id.x * {}u] * 2.0;
            }}",
            length - 1,
            length - 1
        )
    };
    for length in [5_000_000, 8_388_608, 8_388_609, 100_000_000] {
        let variable = |space: &str| format!("var{space} a: array<f32, {length}>;");
        for text in [text(&variable("<private>"), "", length), text("", &variable(""), length)] {
            match results(&text) {
                Ok(found) => assert!(found == [5.0, 7.0] && length <= 8_388_608, "{length}: {found:?}"),
                Err(error) => {
                    assert!(length > 8_388_608, "{error}");
                    assert!(error.contains("268435456 is the limit: use smaller arrays"), "{error}");
                    assert!(error.contains(&format!("{} bytes", length.next_multiple_of(2) * 32)), "{error}");
                }
            }
        }
    }
}

#[test]
fn arrays_of_nested_calls_add_up() {
    assert_eq!(results(&nested_calls(8, 500_000)), Ok(vec![13.5, 22.5]));
    let error = results(&nested_calls(9, 1_000_000)).unwrap_err();
    assert!(error.contains("have 288000000 bytes"), "{error}");
}

#[test]
fn workgroup_memory_beyond_the_limit_is_an_error() {
    let text = "var<workgroup> a: array<f32, 100000000>;
        @group(0) @binding(0) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(2) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            a[id.x] = 1.0;
            workgroupBarrier();
            out[id.x] = a[1u - id.x];
        }";
    let (module, info) = compile(text).unwrap();
    let result = CompiledKernel::new(&module, &info, "main", text, Vectorization::Use).map(drop);
    assert!(matches!(result, Err(Error::Memory { bytes, .. }) if bytes > 400_000_000), "{result:?}");
}

#[test]
fn many_values_at_a_time_run_on_a_thread_with_a_small_stack() {
    let length = 600;
    let mut text = format!(
        "struct Cells {{ values: array<f32, {length}> }}
         @group(0) @binding(0) var<storage, read_write> cells: array<Cells>;
         @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{\n"
    );
    for copy in 0..4 {
        let _ = writeln!(text, "let a{copy} = cells[id.x + {copy}u];");
    }
    for copy in 0..4 {
        let _ = writeln!(text, "cells[id.x + {}u] = a{copy};", 20 + 10 * copy);
    }
    text.push('}');
    let (module, info) = compile(&text).unwrap();
    let words: Vec<u32> = (0..60 * length).collect();
    let buffers: Buffers = [((0, 0), bytemuck::cast_slice(&words).to_vec())].into_iter().collect();
    for vectors in [Vectorization::Avoid, Vectorization::Use] {
        let mut found = buffers.clone();
        std::thread::scope(|scope| {
            let work = || run(vectors, &module, &info, "main", &mut found, [1, 1, 1]);
            let thread = std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, work);
            thread.unwrap().join().unwrap().unwrap();
        });
        let found: &[u32] = bytemuck::cast_slice(&found[&(0, 0)]);
        for (number, word) in found.iter().enumerate() {
            let (cell, within) = (number as u32 / length, number as u32 % length);
            let expected = match cell {
                20.. if (cell - 20) % 10 < 8 => ((cell - 20) % 10 + (cell - 20) / 10) * length + within,
                _ => number as u32,
            };
            assert_eq!(*word, expected, "{vectors:?}, cell {cell}, scalar {within}");
        }
    }
}
