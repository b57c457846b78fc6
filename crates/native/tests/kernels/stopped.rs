//! Runs that are stopped before they begin: skipped work is an error.

use zippy_native::{BindingBytes, CompiledKernel, Error, OneThread, StopRequest, Vectorization};

use crate::compare::compile;

fn run_stopped(body: &str) -> Result<(), Error> {
    let text = format!(
        "var<workgroup> shared_words: array<u32, 64>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {{
            {body}
        }}"
    );
    let (module, info) = compile(&text).unwrap();
    let compiled = CompiledKernel::new(&module, &info, "main", &text, Vectorization::Use).unwrap();
    let (mut words, stop) = (vec![0_u64; 64], StopRequest::default());
    stop.request();
    compiled.run(&[BindingBytes::written(bytemuck::cast_slice_mut(&mut words))], [2, 1, 1], &OneThread, &stop)
}

#[test]
fn stopped_run_without_loop_is_an_error() {
    assert_eq!(run_stopped("out[id.x] = id.x;"), Err(Error::Stopped { line: 0 }));
}

#[test]
fn stopped_run_names_line_of_its_loop() {
    let body = "var n = 0u;
        loop { n += out[n & 63u]; if n == 7u { break; } }
        out[id.x] = n;";
    assert_eq!(run_stopped(body), Err(Error::Stopped { line: 6 }));
}

#[test]
fn stopped_loop_around_a_barrier_is_an_error() {
    let body = "loop { shared_words[lane] += 1u; workgroupBarrier(); if out[0] == 77u { break; } }";
    assert!(matches!(run_stopped(body), Err(Error::Stopped { .. })));
}

#[test]
fn stopped_loop_of_barriers_alone_names_its_line() {
    let body = "loop { workgroupBarrier(); continuing { break if false; } }";
    assert_eq!(run_stopped(body), Err(Error::Stopped { line: 5 }));
}

#[test]
fn memory_that_no_thread_has_is_an_error() {
    let text = "var<private> large: array<u32, 100000000>;
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(256)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            large[id.x] = id.y;
            workgroupBarrier();
            out[id.x] = large[id.y];
        }";
    let (module, info) = compile(text).unwrap();
    let result = CompiledKernel::new(&module, &info, "main", text, Vectorization::Use).map(drop);
    assert!(matches!(result, Err(Error::Memory { .. })), "{result:?}");
}
