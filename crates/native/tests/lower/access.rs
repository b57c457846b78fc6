use std::fmt::Write;

use crate::{lower, run_body, run_with};
use zippy_native::ir::{Definition, Memory, Statement};

#[test]
fn runtime_sized_arrays_load_zero_and_store_nothing_out_of_range() {
    let body = "out[0] = input[1]; out[1] = input[input[0]]; out[input[0]] = 5u; out[2] = arrayLength(&input);
        out[3] = input[bitcast<i32>(input[0]) - 101]; out[4] = input[-1 - bitcast<i32>(input[1])];
        out[arrayLength(&out)] = 9u; out[arrayLength(&out) - 1u] = 6u; out[input[3]] = 1u;";
    assert_eq!(run_body("", body, &[100, 7, 3, 0xffff_ffff], 6), [7, 0, 4, 0, 0, 6]);
}

#[test]
fn fixed_size_arrays_clamp_indices_to_the_last_element() {
    let source = "struct S { head: u32, a: array<vec3<u32>, 4>, m: mat3x3<f32>, tail: array<array<u32, 3>, 2> }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read> s: S;
        @compute @workgroup_size(1) fn main() {
            let i = s.head;
            out[0] = s.a[i].y; out[1] = s.a[1][i]; out[2] = s.a[i][i - 8u]; out[3] = u32(s.m[i][1]);
            out[4] = u32(s.m[2][i]); out[5] = s.tail[i][1]; out[6] = s.tail[i - 9u][i]; out[7] = s.tail[i][i];
            out[8] = s.a[-1 - bitcast<i32>(i)].x;
        }";
    let mut input: Vec<u32> = (0..40).map(|word| word * 10).collect();
    input[0] = 9;
    for (word, column) in (20..32).zip(&mut input[20..32]) {
        *column = (word as f32).to_bits();
    }
    let out = run_with(source, &input, 9);
    assert_eq!(out, [170, 100, 170, 29, 30, 360, 340, 370, 160]);
}

#[test]
fn local_arrays_vectors_and_matrices_are_indexed_everywhere() {
    let body = "var a = array<vec3<u32>, 3>(vec3(1u, 2u, 3u), vec3(4u, 5u, 6u), vec3(7u, 8u, 9u));
        let i = input[0]; let j = input[1];
        out[0] = a[i][j]; a[j][i] = 50u; a[i].y += 1u; out[1] = a[j][i]; out[2] = a[i].y;
        var v = vec4(10u, 20u, 30u, 40u); out[3] = v[i]; v[j] = 5u; out[4] = v.x + v.y + v.z + v.w;
        v[input[2]] += 1u; out[5] = v[3]; out[6] = v[input[2]];
        var m = mat3x2(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
        out[7] = u32(m[i][j]); m[j][i] = 70.0; m[i] = vec2(8.0, 9.0);
        out[8] = u32(m[j][i]); out[9] = u32(m[i].y + m[0].x); out[10] = u32(m[input[2]][input[2]]);
        let w = vec3(i, j, 77u); out[11] = w[i + j]; out[12] = w[input[2]];";
    let out = run_body("", body, &[1, 2, 1000], 13);
    assert_eq!(out, [6, 50, 6, 20, 75, 41, 41, 4, 70, 10, 70, 77, 77]);
}

#[test]
fn constant_arrays_are_stored_once_at_the_kernel_s_entry() {
    let source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read> input: array<u32>;
        const table = array<u32, 5>(3u, 1u, 4u, 1u, 5u);
        fn digit(i: u32) -> u32 { return table[i]; }
        @compute @workgroup_size(1) fn main() {
            var n = 0u;
            for (var i = 0u; i < input[0]; i++) { let t = array<u32, 5>(3u, 1u, 4u, 1u, 5u); n = n * 10u + digit(i) + t[i] - table[i]; }
            out[0] = n; let mixed = array<vec2<f32>, 2>(vec2(1.0, 2.0), vec2(3.0, 4.0)); out[1] = u32(mixed[n - 3141553u].y);
        }";
    assert_eq!(run_with(source, &[7], 2), [3_141_555, 4]);
    let kernel = lower(source);
    let prologue =
        kernel.body.iter().take_while(|statement| matches!(statement, Statement::Store(..) | Statement::Let(_)));
    let stores = prologue.filter(|statement| matches!(statement, Statement::Store(..)));
    assert_eq!(stores.count(), 9, "{kernel}");
    assert_eq!(kernel.frame_bytes, 24 + 24);
}

#[test]
fn arrays_with_constant_indices_are_variables() {
    let source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() {
            var a: array<u32, 4>; a[1] = out[2]; a[3] = a[1] * 2u; out[0] = a[3] + a[0];
        }";
    let kernel = lower(source);
    assert_eq!((kernel.frame_bytes, kernel.variables.len()), (0, 4));
}

#[test]
fn several_dynamic_terms_share_one_index_and_scale() {
    let kernel = lower(
        "@group(0) @binding(0) var<storage, read_write> a: array<array<vec4<f32>, 3>>;
         @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) { a[id.x][id.y][id.z] = 1.0; }",
    );
    let Some(Statement::Store(access, _)) = kernel.body.last() else { panic!("{kernel}") };
    assert_eq!((access.memory, access.scale, access.offset), (Memory::Binding(0), 4, 0));
    assert!(access.guard.is_some());
    let index = kernel.definition(access.index.unwrap());
    assert!(matches!(index, Definition::Binary(..)), "{kernel}");
}

#[test]
fn indices_of_64_bits_are_compared_as_a_whole() {
    let body = "let i = u64(input[0]) + 0x100000000lu; out[0] = input[i]; out[1] = input[u64(input[0])];
        var a = array<u32, 3>(1u, 2u, 3u); out[2] = a[i]; out[3] = a[u64(input[0])]; out[4] = vec3(4u, 5u, 6u)[i];";
    assert_eq!(run_body("", body, &[1, 8], 5), [0, 8, 3, 2, 6]);
}

#[test]
fn arrays_of_structs_with_vectors_are_indexed_through_pointers() {
    let declarations = "struct Cell { p: vec3<f32>, kind: u32, links: array<u32, 2> }
        var<workgroup> cells: array<Cell, 4>; var<workgroup> flags: array<bool, 4>;
        fn link(i: u32, j: u32) -> u32 { let c = &cells; let cell = &(*c)[i]; return (*cell).links[j]; }";
    let body = "let i = input[0]; cells[i].links[i - 1u] = 7u; cells[i].p[i] = 2.0; cells[i].kind = 3u; flags[i] = true;
        out[0] = link(i, 1u) + link(i + 1u, 1u); out[1] = u32(cells[2].p.z); out[2] = u32(flags[2]) + 2u * u32(flags[1]);
        let whole = cells[i]; out[3] = whole.kind + whole.links[input[1]]; cells[0] = whole; out[4] = cells[0].links[1];
        flags[9u + i] = true; out[5] = u32(flags[3]);";
    assert_eq!(run_body(declarations, body, &[2, 1], 6), [7, 2, 1, 10, 7, 1]);
}

#[test]
fn large_local_arrays_are_zero_before_their_use() {
    let body = "var a: array<array<u32, 30>, 30>; a[input[0]][input[1]] = 5u; var n = 0u;
        for (var i = 0u; i < 30u; i++) { for (var j = 0u; j < 30u; j++) { n += a[i][j]; } } out[0] = n; out[1] = a[3][4];";
    assert_eq!(run_body("", body, &[3, 4], 2), [5, 5]);
}

#[test]
fn chain_of_arrays_that_index_one_another_ends_in_the_frame() {
    // An array's index is known to be dynamic only after the array before it is in the frame.
    let mut body = String::from("var n = input[0];\n");
    for number in 0..8 {
        let _ = writeln!(body, "var a{number} = array<u32, 3>(2u, 0u, 1u); n = a{number}[n];");
        let _ = writeln!(body, "let b{number} = array<u32, 3>(n, 2u - n, 1u); n = b{number}[n];");
    }
    body.push_str("out[0] = n;");
    for start in 0..3 {
        let mut n = start;
        for _ in 0..8 {
            n = [2, 0, 1][n as usize];
            n = [n, 2 - n, 1][n as usize];
        }
        assert_eq!(run_body("", &body, &[start], 1), [n]);
    }
}
