use crate::{lower, run_body};
use zippy_native::ir::Statement;

#[test]
fn functions_return_early_from_loops_and_branches() {
    let declarations = "fn find(limit: u32, wanted: u32) -> i32 {
            for (var i = 0u; i < limit; i++) {
                if (input[i] == wanted) { return bitcast<i32>(i); }
                if (input[i] == 100u) { break; }
            }
            return -1;
        }
        fn pick(a: u32) -> vec2<u32> { if (a > 5u) { return vec2(a, 1u); } else { return vec2(0u, a); } }";
    let body =
        "out[0] = bitcast<u32>(find(5u, 7u)); out[1] = bitcast<u32>(find(5u, 8u)); out[2] = bitcast<u32>(find(2u, 9u));
        let p = pick(input[0]) + pick(input[1]); out[3] = p.x; out[4] = p.y;";
    let out = run_body(declarations, body, &[3, 7, 9, 100, 8], 5);
    assert_eq!(out, [1, u32::MAX, u32::MAX, 7, 4]);
}

#[test]
fn pointer_arguments_change_the_caller_s_variables() {
    let declarations = "struct Pair { a: u32, b: array<vec2<u32>, 3> }
        var<private> counter: u32 = 5u;
        fn add(p: ptr<function, u32>, n: u32) { *p += n; }
        fn add_private(p: ptr<private, u32>) -> u32 { *p *= 2u; return *p; }
        fn swap(p: ptr<function, Pair>, i: u32) { let t = (*p).a; (*p).a = (*p).b[i].y; (*p).b[i].y = t; }
        fn fill(a: ptr<function, array<u32, 4>>, i: u32) { (*a)[i] = i + 10u; }";
    let body = "var n = 1u; add(&n, 4u); add(&n, n); out[0] = n;
        out[1] = add_private(&counter) + counter;
        var pair = Pair(7u, array(vec2(1u, 2u), vec2(3u, 4u), vec2(5u, 6u)));
        swap(&pair, input[0]); out[2] = pair.a; out[3] = pair.b[1].y; out[4] = pair.b[0].y;
        var a = array<u32, 4>(); fill(&a, input[1]); fill(&a, 0u);
        out[5] = a[0]; out[6] = a[1]; out[7] = a[2]; out[8] = a[3];
        var v = vec3(1u, 2u, 3u); let q = &v; add(&n, (*q).y); (*q).y = n; out[9] = v.y;";
    let out = run_body(declarations, body, &[1, 2], 10);
    assert_eq!(out, [10, 20, 4, 7, 2, 10, 0, 12, 0, 12]);
}

#[test]
fn recursion_of_calls_with_structs_by_value_copies_them() {
    let declarations = "struct S { m: mat2x2<f32>, v: vec3<f32>, n: array<i32, 2>, }
        fn change(s: S) -> S { var t = s; t.m[1].x = 9.0; t.n[1] += 3; t.v = t.v.zyx; return t; }
        fn twice(s: S) -> S { return change(change(s)); }";
    let body = "let s = S(mat2x2(1.0, 2.0, 3.0, 4.0), vec3(5.0, 6.0, 7.0), array<i32, 2>(8, 9));
        let t = twice(s); let u = change(s);
        out[0] = u32(s.m[1].x); out[1] = u32(t.m[1].x); out[2] = u32(t.n[1]); out[3] = u32(t.v.x); out[4] = u32(u.v.x);";
    assert_eq!(run_body(declarations, body, &[], 5), [3, 9, 15, 5, 7]);
}

#[test]
fn private_variables_start_with_their_initializers() {
    let declarations = "const base = 3u;
        var<private> a: array<u32, 3> = array<u32, 3>(base, base + 1u, base * 2u);
        var<private> b: vec2<f32>; var<private> flag: bool = true; var<private> table: array<vec2<u32>, 20>;
        fn bump(i: u32) { a[i] += 100u; flag = !flag; table[i].y += i; }";
    let body = "bump(input[0]); bump(2u); bump(input[0]);
        out[0] = a[0]; out[1] = a[1]; out[2] = a[2]; out[3] = u32(b.x); out[4] = u32(flag); out[5] = table[1].y; out[6] = table[2].y;";
    assert_eq!(run_body(declarations, body, &[1], 7), [3, 204, 106, 0, 0, 2, 2]);
}

#[test]
fn function_with_one_return_needs_no_block() {
    let kernel = lower(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         fn f(a: u32) -> u32 { return a * 3u; }
         fn g(a: u32) -> u32 { let b = f(a); return b + f(b); }
         @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) { out[0] = g(id.x); }",
    );
    assert!(
        kernel.body.iter().all(|statement| matches!(statement, Statement::Let(_) | Statement::Store(..))),
        "{kernel}"
    );
    assert!(kernel.variables.is_empty());
}

#[test]
fn void_functions_return_early_and_results_can_be_ignored() {
    let declarations = "fn write(i: u32) { if (i > 1u) { return; } out[i] = 7u; if (i == 0u) { return; } out[2] = 8u; }
        @must_use fn used() -> u32 { return 1u; }
        fn ignored() -> u32 { out[3] = 4u; return 5u; }";
    let body = "write(0u); write(input[0]); write(1u); ignored(); out[4] = used();";
    assert_eq!(run_body(declarations, body, &[2], 5), [7, 7, 8, 4, 1]);
}

#[test]
fn array_arguments_and_results_are_indexed_dynamically() {
    let declarations = "fn make(n: u32) -> array<u32, 5> { return array<u32, 5>(n, n + 1u, n + 2u, n + 3u, n + 4u); }
        fn pick(a: array<u32, 5>, i: u32) -> u32 { return a[i]; }
        fn nested(a: array<array<u32, 2>, 2>, i: u32, j: u32) -> u32 { return a[i][j]; }";
    let body =
        "let a = make(input[0]); out[0] = a[input[1]]; out[1] = pick(a, input[1] + 1u); out[2] = make(7u)[input[1]];
        var n = 0u; for (var i = 0u; i < 5u; i++) { n = n * 10u + pick(make(i), i) ; } out[3] = n;
        let t = array<array<u32, 2>, 2>(array<u32, 2>(1u, input[0]), array<u32, 2>(3u, 4u));
        out[4] = nested(t, 0u, input[2]) + nested(t, input[2], 0u) * 10u;
        out[5] = pick(a, 77u);";
    assert_eq!(run_body(declarations, body, &[50, 2, 1], 6), [52, 53, 9, 2468, 80, 54]);
}
