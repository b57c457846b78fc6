use crate::{lower, run_body};
use zippy_native::ir::Statement;

#[test]
fn loop_with_continue_and_break_sums_odd_numbers_below_limit() {
    let body = "var sum = 0u;
        for (var i = 0u; i < 100u; i++) {
            if (i % 2u == 0u) { continue; }
            if (i > input[0]) { break; }
            sum += i;
        }
        out[0] = sum;";
    assert_eq!(run_body("", body, &[9], 1), [25]);
}

#[test]
fn nested_loops_with_breaks_and_continues_follow_control_flow() {
    let body = "var n = 0u; var i = 0u;
        loop {
            if (i == input[0]) { break; }
            var j = 0u;
            while (j < i) {
                j++;
                if (j == 3u) { continue; }
                if (j > 5u) { break; }
                for (var k = 0u; k < 2u; k++) { n += j; }
            }
            continuing { i++; }
        }
        out[0] = n; out[1] = i;";
    for limit in [0, 1, 4, 9] {
        let mut n = 0;
        for i in 0..limit {
            for j in 1..=i {
                if j == 3 {
                    continue;
                }
                if j > 5 {
                    break;
                }
                n += 2 * j;
            }
        }
        assert_eq!(run_body("", body, &[limit], 2), [n, limit]);
    }
}

#[test]
fn break_if_sees_values_of_the_body_before_a_continue() {
    let body = "var i = 0u; var n = 0u;
        loop {
            let twice = i * 2u;
            let element = input[i];
            if (element == 7u) { continue; }
            n += element;
            continuing {
                let limit = twice + element;
                i++;
                break if limit > 12u;
            }
        }
        out[0] = n; out[1] = i;";
    assert_eq!(run_body("", body, &[1, 7, 3, 6, 7, 9], 2), [10, 5]);
}

#[test]
fn break_if_without_continue_ends_the_loop() {
    let body = "var i = 0u; loop { i += 3u; continuing { break if i > input[0]; } } out[0] = i;";
    assert_eq!(run_body("", body, &[10], 1), [12]);
}

#[test]
fn pointers_of_the_body_are_valid_in_the_continuing_block() {
    let body = "var a = array<u32, 4>(1u, 2u, 3u, 4u); var i = 0u;
        loop {
            let p = &a[input[i]];
            if (input[i] == 1u) { continue; }
            *p *= 10u;
            continuing { *p += 1u; i++; break if i == 4u; }
        }
        for (var k = 0; k < 4; k++) { out[k] = a[k]; }";
    assert_eq!(run_body("", body, &[0, 1, 3, 0], 4), [111, 3, 3, 41]);
}

const SWITCH: &str = "var n = 0u;
    switch (bitcast<i32>(input[0])) {
        case 1, 2: { n = 10u; }
        default: { if (input[1] == 1u) { n = 99u; break; } n = 20u; }
        case -3: { n = 30u; break; }
        case 4: { for (var i = 0u; ; i++) { if (i == 5u) { break; } n += i; } }
        case 5: {}
    }
    out[0] = n;";

#[test]
fn switch_selects_one_case_for_any_position_of_the_default() {
    for (selector, flag, expected) in
        [(1, 0, 10), (2, 0, 10), (3, 0, 20), (3, 1, 99), (-3, 0, 30), (4, 0, 10), (5, 0, 0), (0, 0, 20)]
    {
        assert_eq!(run_body("", SWITCH, &[selector as u32, flag], 1), [expected], "{selector}");
    }
}

#[test]
fn switch_with_many_cases_does_not_nest() {
    let cases: String = (0..600).map(|case| format!("case {case}u: {{ n = {case}u * 2u; }}\n")).collect();
    let body = format!("var n = 0u; switch (input[0]) {{ {cases} default: {{ n = 7u; }} }} out[0] = n + 1u;");
    for (selector, expected) in [(0, 1), (599, 1199), (600, 8)] {
        assert_eq!(run_body("", &body, &[selector], 1), [expected]);
    }
}

#[test]
fn switch_inside_a_loop_continues_the_loop() {
    let body = "var n = 0u;
        for (var i = 0u; i < 6u; i++) {
            switch (input[i]) {
                case 0u: { continue; }
                case 1u: { n += 1u; break; }
                default: { n += 100u; }
            }
            n += 10u;
        }
        out[0] = n;";
    assert_eq!(run_body("", body, &[0, 1, 2, 1, 0, 9], 1), [242]);
}

#[test]
fn switch_on_a_constant_lowers_one_case() {
    let body =
        "const n = 2; switch (n) { case 1: { out[0] = 1u; } case 2: { out[0] = 5u; break; } default: {} } out[1] = 6u;";
    assert_eq!(run_body("", body, &[], 2), [5, 6]);
}

#[test]
fn return_inside_loop_leaves_the_entry_point() {
    let body = "for (var i = 0u; i < 9u; i++) {
            switch (i) { case 4u: { if (input[0] == 1u) { return; } } default: {} }
            out[0] = i;
        }
        out[1] = 1u;";
    assert_eq!(run_body("", body, &[1], 2), [3, 0]);
    assert_eq!(run_body("", body, &[0], 2), [8, 1]);
}

#[test]
fn variables_are_zero_at_each_execution_of_their_declaration() {
    let body = "var total = 0u;
        for (var i = 0u; i < 3u; i++) { var n: u32; var a: array<u32, 40>; n += 5u; a[input[i]] += n; total += n + a[input[i]]; }
        out[0] = total;";
    assert_eq!(run_body("", body, &[39, 39, 0], 1), [30]);
}

#[test]
fn blocks_shadow_variables() {
    let body = "var a = 1u; { var a = 2u; { let a = 3u; out[0] = a; } a += 5u; out[1] = a; } out[2] = a;";
    assert_eq!(run_body("", body, &[], 3), [3, 7, 1]);
}

#[test]
fn constant_conditions_leave_no_branch() {
    let kernel = lower(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         const fast = true;
         @compute @workgroup_size(1) fn main() { if (fast) { out[0] = 1u; } else { out[1] = 2u; } }",
    );
    assert!(matches!(kernel.body[..], [Statement::Store(..)]), "{kernel}");
}

#[test]
fn barriers_remain_and_memory_barriers_are_removed() {
    let kernel = lower(
        "var<workgroup> tile: array<u32, 8>;
         @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
             tile[i] = i; workgroupBarrier(); storageBarrier(); tile[i] = tile[7u - i];
         }",
    );
    let barriers = kernel.body.iter().filter(|statement| matches!(statement, Statement::Barrier));
    assert_eq!(barriers.count(), 2);
}

#[test]
fn loops_have_lines_of_the_source() {
    let kernel = lower(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         @compute @workgroup_size(1) fn main() {

             loop { if (out[0] == 0u) { break; } out[0] -= 1u; }
         }",
    );
    let text = format!("{:?}", kernel.body);
    assert!(text.contains("line: 4"), "{text}");
}

#[test]
fn unused_values_are_removed() {
    let kernel = lower(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         fn helper(a: u32) -> vec4<u32> { return vec4(a, out[a], a * a, 7u); }
         @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             let unused = out[3] + id.x;
             let v = helper(id.y);
             out[0] = v.w;
         }",
    );
    assert!(matches!(kernel.body[..], [Statement::Store(..)]), "{kernel}");
}
