use super::{bytes, run_text, run_words, values};

/// Runs the body of an entry point with one invocation; `out` is an array of `u32`.
fn run_body(declarations: &str, body: &str) -> Vec<u32> {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        {declarations}
        @compute @workgroup_size(1)
        fn main() {{ {body} }}"
    );
    run_words(&text, 8, [1, 1, 1])
}

#[test]
fn if_runs_one_branch() {
    let out = run_body(
        "",
        "for (var i = 0u; i < 4u; i++) {
            if i == 0u { out[i] = 10u; } else if i == 1u { out[i] = 11u; } else { out[i] = 12u; }
            if i == 3u { out[4] = 5u; }
        }",
    );
    assert_eq!(out, [10, 11, 12, 12, 5, 0, 0, 0]);
}

#[test]
fn switch_selects_case_or_default() {
    let out = run_body(
        "",
        "for (var i = 0; i < 6; i++) {
            switch i {
                case 0, 3: { out[i] = 1u; }
                default: { out[i] = 2u; if i == 4 { break; } out[i] += 5u; }
                case 1: { out[i] = 3u; }
            }
        }
        switch 7u { case 5u, default: { out[7] = 9u; } }",
    );
    assert_eq!(out, [1, 3, 7, 1, 2, 7, 0, 9]);
}

#[test]
fn continue_in_switch_continues_loop() {
    let out = run_body(
        "",
        "for (var i = 0u; i < 5u; i++) {
            switch i { case 2u: { continue; } default: {} }
            out[i] = i + 1u;
        }",
    );
    assert_eq!(out, [1, 2, 0, 4, 5, 0, 0, 0]);
}

#[test]
fn loops_break_and_continue() {
    let out = run_body(
        "",
        "var i = 0u;
        while true {
            i++;
            if i % 2u == 0u { continue; }
            if i > 6u { break; }
            out[i] = i;
        }
        out[0] = i;",
    );
    assert_eq!(out, [7, 1, 0, 3, 0, 5, 0, 0]);
}

#[test]
fn continuing_runs_after_continue_and_before_break_if() {
    let out = run_body(
        "",
        "var i = 0u;
        loop {
            if i == 1u { continue; }
            out[i] = 1u;
            continuing {
                let last = i;
                i += 1u;
                out[last] += 10u;
                break if last == 3u;
            }
        }
        out[7] = i;",
    );
    assert_eq!(out, [11, 10, 11, 11, 0, 0, 0, 4]);
}

#[test]
fn nested_loops_break_inner_loop() {
    let out = run_body(
        "",
        "for (var i = 0u; i < 3u; i++) {
            for (var j = 0u; j < 10u; j++) {
                if j > i { break; }
                out[i] += 1u;
            }
        }",
    );
    assert_eq!(out, [1, 2, 3, 0, 0, 0, 0, 0]);
}

#[test]
fn variable_in_loop_starts_anew() {
    let out = run_body("", "for (var i = 0u; i < 3u; i++) { var x: u32; x += i + 1u; out[i] = x; }");
    assert_eq!(out, [1, 2, 3, 0, 0, 0, 0, 0]);
}

#[test]
fn return_leaves_nested_statements() {
    let out = run_body(
        "fn find(limit: u32) -> u32 {
            for (var i = 0u; ; i++) {
                switch i % 2u { case 1u: { if i * i > limit { return i; } } default: {} }
            }
            return 99u;
        }",
        "out[0] = find(0u); out[1] = find(1u); out[2] = find(30u);
        if out[2] == 7u { return; }
        out[3] = 1u;",
    );
    assert_eq!(out, [1, 3, 7, 0, 0, 0, 0, 0]);
}

#[test]
fn calls_pass_values_and_results() {
    let out = run_body(
        "struct Pair { a: u32, b: vec2<u32> }
        fn swap(p: Pair) -> Pair { var q = p; q.b = p.b.yx; q.a += 1u; return q; }
        fn twice(x: u32) -> u32 { return x * 2u; }
        fn nothing() { }",
        "nothing();
        let p = swap(swap(Pair(1u, vec2<u32>(twice(3u), 4u))));
        let q = swap(p);
        out[0] = p.a; out[1] = p.b.x; out[2] = q.b.x; out[3] = twice(twice(q.b.y));",
    );
    assert_eq!(out, [3, 6, 4, 24, 0, 0, 0, 0]);
}

#[test]
fn pointers_refer_to_parts_of_variables() {
    let out = run_body(
        "struct Part { m: array<vec2<u32>, 3>, n: u32 }
        var<private> g: u32 = 7u;
        fn add(p: ptr<function, u32>, x: u32) -> u32 { *p += x; return *p * 10u; }
        fn raise(p: ptr<private, u32>) { *p = *p + 1u; }
        fn fill(p: ptr<function, array<vec2<u32>, 3>>) { (*p)[1].y = 5u; (*p)[2] = (*p)[1]; }",
        "var part = Part();
        var x = 3u;
        out[0] = add(&x, 2u) + x;
        raise(&g); out[1] = g;
        fill(&part.m);
        out[2] = part.m[2].y;
        let row = &part.m[out[1]];
        (*row).x = 4u;
        out[3] = part.m[2].x;
        let n = &part.n; *n = 6u; out[4] = part.n;",
    );
    assert_eq!(out, [55, 8, 5, 4, 6, 0, 0, 0]);
}

#[test]
fn pointer_keeps_index_of_its_creation() {
    let out = run_body(
        "",
        "var a = array<u32, 3>(1u, 2u, 3u); var i = 1u; let p = &a[i]; i = 2u; *p = 9u; out[0] = a[1]; out[1] = a[i];",
    );
    assert_eq!(out, [9, 3, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn loads_happen_before_later_stores() {
    let out =
        run_body("", "var a = 1u; let b = a; a = 2u; out[0] = b; out[1] = a; let c = out[1]; out[1] = 5u; out[2] = c;");
    assert_eq!(out, [1, 5, 2, 0, 0, 0, 0, 0]);
}

#[test]
fn logical_operators_short_circuit() {
    let out = run_body(
        "var<private> calls: u32;
        fn count(x: bool) -> bool { calls++; return x; }",
        "out[0] = u32(count(false) && count(true)); out[1] = calls;
        out[2] = u32(count(true) || count(false)); out[3] = calls;
        out[4] = u32(count(true) && !count(false)); out[5] = calls;
        out[6] = u32(count(true) & count(false)) + u32(true | (out[0] == 1u));",
    );
    assert_eq!(out, [0, 1, 1, 2, 1, 4, 1, 0]);
}

#[test]
fn compound_assignments_and_steps_change_their_target() {
    let out = run_body(
        "",
        "var x = 5u; x += 3u; x *= 4u; x -= 2u; x /= 3u; x %= 7u; out[0] = x;
        x <<= 4u; x |= 1u; x ^= 3u; x >>= 1u; x &= 30u; out[1] = x;
        x++; x++; x--; out[2] = x;
        var v = vec3<u32>(1u, 2u, 3u); v *= 2u; v.y += 10u; out[3] = v.x + v.y + v.z;
        _ = v.x;",
    );
    assert_eq!(out, [3, 24, 25, 22, 0, 0, 0, 0]);
}

#[test]
fn constants_and_overrides_have_their_values() {
    let out = run_body(
        "const SIZE = 3u; const TABLE = array<u32, 3>(4u, 5u, 6u); override factor: u32 = 7u;
        override product: u32 = factor * 2u; var<private> start: u32 = SIZE * 2u;",
        "out[0] = SIZE; for (var i = 0u; i < SIZE; i++) { out[1] += TABLE[i]; } out[2] = factor; out[3] = product; out[4] = start;",
    );
    assert_eq!(out, [3, 15, 7, 14, 6, 0, 0, 0]);
}

#[test]
fn builtin_values_describe_the_invocation() {
    let text = "
        struct Ids { @builtin(global_invocation_id) global: vec3<u32>, @builtin(local_invocation_index) index: u32 }
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(2, 3, 1)
        fn main(ids: Ids, @builtin(local_invocation_id) local: vec3<u32>, @builtin(workgroup_id) group: vec3<u32>,
                @builtin(num_workgroups) groups: vec3<u32>) {
            let place = (group.x + groups.x * group.z) * 6u + ids.index;
            out[place] = ids.global.x + 10u * ids.global.y + 100u * ids.global.z + 1000u * local.x + 10000u * local.y;
        }";
    let out = run_words(text, 24, [2, 1, 2]);
    for (place, value) in out.into_iter().enumerate() {
        let (index, group) = (place as u32 % 6, place as u32 / 6);
        let (x, y) = (index % 2, index / 2);
        let global = group % 2 * 2 + x + 10 * y + 100 * (group / 2);
        assert_eq!(value, global + 1000 * x + 10000 * y);
    }
}

#[test]
fn reads_and_writes_past_the_end_of_a_runtime_sized_array_are_skipped() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage> data: array<vec2<u32>>;
        @compute @workgroup_size(1)
        fn main() {
            var i = 2u; var j = -1;
            out[0] = data[i].y + 1u; out[1] = data[j].x + 1u; out[2] = data[1].y;
            out[i + 2u] = 7u; out[j] = 8u;
            out[3] = arrayLength(&data) * 100u + arrayLength(&out);
        }";
    let buffers = run_text(text, &[bytes(&[0u32; 4]), bytes(&[1u32, 2, 3, 4, 5])], [1, 1, 1]).unwrap();
    assert_eq!(values::<u32>(&buffers[0]), [1, 1, 4, 204]);
}

#[test]
fn dynamic_indices_of_fixed_arrays_and_matrices_are_clamped() {
    let out = run_body(
        "",
        "var a = array<u32, 3>(1u, 2u, 3u); var i = 9u; var j = -1;
        a[i] = 7u; out[0] = a[2]; out[1] = a[j];
        var m = mat2x2<f32>(1.0, 2.0, 3.0, 4.0); m[i][j] = 5.0; out[2] = u32(m[1].y); out[3] = u32(m[j].x);
        let v = vec3<u32>(1u, 2u, 3u); out[4] = v[i];
        let b = array<u32, 2>(8u, 9u); out[5] = b[i];",
    );
    assert_eq!(out, [7, 7, 5, 3, 3, 9, 0, 0]);
}

#[test]
fn endless_loop_is_an_error() {
    let text = "@compute @workgroup_size(1) fn main() { loop { } }";
    assert_eq!(run_text(text, &[], [1, 1, 1]), Err("too many steps".into()));
}
