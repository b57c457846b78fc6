use crate::{lower, run_body, run_with};
use zippy_native::ir::Statement;

fn text(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         const weights = array<f32, 4>(1.0, 2.0, 3.0, 4.0);
         const limit = 4u;
         fn sum(n: u32) -> f32 {{ var s = 0.0; for (var i = 0u; i < n; i++) {{ s += weights[i]; }} return s; }}
         fn step_(p: ptr<function, u32>) {{ *p += 1u; }}
         @compute @workgroup_size(1) fn main() {{ {body} }}"
    )
}

fn kernel(body: &str) -> zippy_native::ir::Kernel {
    lower(&text(body))
}

fn has_loop(body: &[Statement]) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Loop { .. } => true,
        Statement::If { accept, reject, .. } => has_loop(accept) || has_loop(reject),
        Statement::Block { body, .. } => has_loop(body),
        _ => false,
    })
}

#[test]
fn arrays_indexed_by_counters_become_variables() {
    let kernel = kernel(
        "var a: array<f32, 4>;
         for (var i = 0u; i < limit; i++) { a[i] = weights[i] * f32(out[i]); }
         var sum = 0.0; for (var i = 3; i >= 0; i--) { sum += a[i]; } out[0] = u32(sum);",
    );
    assert!(!has_loop(&kernel.body), "{kernel}");
    assert_eq!(kernel.frame_bytes, 0);
}

#[test]
fn limits_are_constants_of_the_caller() {
    let kernel = kernel("out[0] = u32(sum(3u) + sum(limit));");
    assert!(matches!(kernel.body.last(), Some(Statement::Store(..))) && !has_loop(&kernel.body), "{kernel}");
    assert_eq!(kernel.frame_bytes, 0);
}

const LIMIT_OF_EARLIER_VALUE: &str =
    "var i = 0u; let first = i; for (; first < 1u; i++) { if (i > 6u) { break; } out[i] = i + 1u; }";
const STEP_FROM_EARLIER_VALUE: &str =
    "var i = 0u; let first = i; loop { if i < 3u {} else { break; } out[1] += 1u; if out[1] > 4u { break; }
     continuing { i = first + 1u; } }";

#[test]
fn loops_use_values_that_were_loaded_before_them() {
    let run = |body: &str| run_with(&text(body), &[], 8);
    assert_eq!(run(LIMIT_OF_EARLIER_VALUE), [1, 2, 3, 4, 5, 6, 7, 0]);
    assert_eq!(run(STEP_FROM_EARLIER_VALUE), [0, 5, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn long_loops_and_loops_with_changed_counters_are_not_unrolled() {
    for body in [
        "for (var i = 0u; i < 33u; i++) { out[i] = i; }",
        "for (var i = 0u; i < 4u; i++) { if (out[i] == 0u) { i += 1u; } }",
        "for (var i = 0u; i < 4u; i++) { step_(&i); }",
        "for (var i = 3u; i >= 0u; i--) { if (out[i] == 0u) { break; } }",
        "for (var i = 0u; i < out[0]; i++) { out[i] = i; }",
        "for (var i = out[0]; i < 3u; i++) { out[i] = i; }",
        "for (var i = 0u; i < 3u; i *= 2u) { out[i] = i; }",
        LIMIT_OF_EARLIER_VALUE,
        STEP_FROM_EARLIER_VALUE,
    ] {
        assert!(has_loop(&kernel(body).body), "{body}");
    }
}

#[test]
fn nested_loops_unroll_within_one_budget() {
    let nest = |n: u32| {
        format!(
            "var n = 0u; for (var i = 0u; i < {n}u; i++) {{ for (var j = 0u; j < {n}u; j++) {{ for (var k = 0u; k < {n}u; k++) {{
                 n += out[i * 9u + j * 3u + k]; }} }} }} out[0] = n;"
        )
    };
    assert!(!has_loop(&kernel(&nest(3)).body));
    assert!(has_loop(&kernel(&nest(10)).body));
}

#[test]
fn unrolled_iterations_break_and_continue() {
    let body = "var n = 0u; var a: array<u32, 5>;
        for (var i = 0; i < 5; i++) {
            let element = input[i];
            if (element == 3u) { continue; }
            if (element == 9u) { break; }
            for (var j = 0u; j < 3u; j++) { if (j == element) { break; } if (j == 1u) { continue; } n += 1u; }
            a[i] = element; n = n * 10u + a[i];
        }
        out[0] = n; out[1] = a[0] + a[1] + a[2];";
    let expected = |input: &[u32]| {
        let (mut n, mut a) = (0, [0; 5]);
        for (i, element) in input.iter().enumerate() {
            match element {
                3 => continue,
                9 => break,
                _ => {}
            }
            n += (0..3).take_while(|j| j != element).filter(|j| *j != 1).count() as u32;
            a[i] = *element;
            n = n * 10 + element;
        }
        vec![n, a[0] + a[1] + a[2]]
    };
    for input in [[1, 2, 3, 4, 5], [3, 3, 1, 9, 2], [9, 1, 1, 1, 1], [0, 0, 0, 0, 0]] {
        assert_eq!(run_body("", body, &input, 2), expected(&input), "{input:?}");
    }
}

#[test]
fn counters_keep_their_last_value_and_wrap() {
    let body = "var i: i32 = 7; for (; i > 1; i -= 2) { out[0] += u32(i); } out[1] = bitcast<u32>(i);
        var j = 0xfffffffeu; for (; j != 2u; j += 2u) { out[2] += 1u; } out[3] = j;
        var k = 5u; for (; k < 3u; k++) { out[4] = 1u; } out[5] = k;";
    assert_eq!(run_body("", body, &[], 6), [15, 1, 2, 2, 0, 5]);
}

#[test]
fn return_from_an_unrolled_loop_leaves_the_function() {
    let declarations = "fn find(wanted: u32) -> i32 {
            for (var i = 0; i < 4; i++) { if (input[i] == wanted) { return i; } }
            return -1;
        }";
    let body = "out[0] = bitcast<u32>(find(7u)); out[1] = bitcast<u32>(find(8u));
        for (var i = 0u; i < 3u; i++) { if (input[i] == 6u) { out[2] = i; return; } }
        out[2] = 9u;";
    assert_eq!(run_body(declarations, body, &[5, 6, 7, 1], 3), [2, u32::MAX, 1]);
}

#[test]
fn arrays_with_counters_and_other_indices_are_in_the_frame() {
    let declarations = "var<private> p: array<u32, 3>;
        fn pick(a: array<u32, 3>, i: u32) -> u32 { return a[i]; }
        fn put(a: ptr<function, array<u32, 3>>, i: u32) { (*a)[i] += 5u; }";
    let body = "var a: array<u32, 3>; var b: array<u32, 3>;
        for (var i = 0u; i < 3u; i++) { a[i] = i; b[i] = i * 2u; put(&b, i); p[i] = pick(b, i); }
        put(&a, input[0]); p[input[1]] *= 2u; out[0] = a[0] + 10u * a[1] + 100u * a[2];
        out[1] = pick(a, 1u) + pick(p, input[0]); out[2] = p[0] + p[1] + p[2];";
    assert_eq!(run_body(declarations, body, &[1, 2], 3), [260, 13, 30]);
}
