use naga::valid::Capabilities;

use super::super::program::Program;
use super::super::signature::Signature;
use super::*;
use crate::element::Packed;

/// Returns the access range, as text, in the array `x` of a kernel over two axes with these
/// declarations and statements: an interval for each axis.
fn access_range_text(declarations: &str, statements: &str, packed: Option<Packed>) -> String {
    let cell = if packed.is_some() { "u32" } else { "f32" };
    let text = format!(
        "@group(0) @binding(0) var<storage, read> x: array<{cell}>;\n\
         @group(0) @binding(1) var<storage, read_write> y: array<f32>;\n\
         @group(0) @binding(2) var<uniform> n: i32;\n{declarations}\n\
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{\n\
         let p = y_position(id); {statements} }}"
    );
    let program = Program::new("test.wgsl", &text, false, Capabilities::empty()).unwrap();
    let mut signature = Signature::uniform(&program.scan, 2, None);
    signature.vars[0].packed = packed;
    let complete = program.complete(&signature, None, Capabilities::empty()).unwrap();
    let found = find_access_ranges(&complete.parsed, "main", &program.scan, &signature.vars);
    match &found[0] {
        AccessRange::Nothing => "nothing".to_owned(),
        AccessRange::Anywhere => "anywhere".to_owned(),
        AccessRange::Box(intervals) => {
            let text = |interval: &Interval| {
                let axis = interval.axis.map_or(String::new(), |axis| ["x", "y"][axis].to_owned());
                format!("{axis}[{}, {}]", interval.lo, interval.hi)
            };
            intervals.iter().map(text).collect::<Vec<_>>().join(" ")
        }
    }
}

fn floats(declarations: &str, statements: &str) -> String {
    access_range_text(declarations, statements, None)
}

#[test]
fn access_range_of_stencil_is_position_plus_constants() {
    for (statements, expected) in [
        ("y_store(p, x_load(p));", "x[0, 0] y[0, 0]"),
        ("y_store(p, 1.0);", "nothing"),
        ("y_store(p, x_load(p + 1) + x_load(p - vec2(3, 0)));", "x[-3, 1] y[0, 1]"),
        ("if y_inside(p) { y_store(p, x_load(vec2(p.x + 2, p.y))); }", "x[2, 2] y[0, 0]"),
        ("let q = p; let r = q + vec2<i32>(0, 5); y_store(p, x_load(r));", "x[0, 0] y[5, 5]"),
        ("var q = p; q.y -= 4; y_store(p, x_load(q));", "x[0, 0] y[-4, -4]"),
        ("var q = p; if q.x > n { q.x += 1; } else { q.x -= 2; } y_store(p, x_load(q));", "x[-2, 1] y[0, 0]"),
        ("y_store(p, x_load(select(p, p + 1, p > vec2(n))));", "x[0, 1] y[0, 1]"),
        ("y_store(p, x_load(vec2(p.x, 7)));", "x[0, 0] [7, 7]"),
        ("y_store(p, x_load(p.yx));", "y[0, 0] x[0, 0]"),
        (
            "var s = 0.0; for (var k = -4; k <= 4; k++) { s += x_load(p + vec2(k, 0)); } y_store(p, s);",
            "x[-4, 4] y[0, 0]",
        ),
        (
            "var s = 0.0; for (var k = 3u; k > 0u; k--) { s += x_load(p + vec2(0, i32(k))); } y_store(p, s);",
            "x[0, 0] y[1, 3]",
        ),
        (
            "var s = 0.0; for (var j = -1; j < 2; j++) { for (var i = -2; i < 3; i++) { s += x_load(p + vec2(i, j)); } } y_store(p, s);",
            "x[-2, 2] y[-1, 1]",
        ),
        (
            "var s = 0.0; for (var k = 0; k < 9; k++) { s += x_load(p + vec2(k % 3 - 1, k / 3 - 1)); } y_store(p, s);",
            "x[-1, 1] y[-1, 1]",
        ),
        ("for (var k = 0; k < 3; k++) { y_store(p, x_load(p + D[k])); }", "x[-1, 5] y[0, 2]"),
        ("y_store(p, far(p, 3));", "x[3, 3] y[0, 3]"),
    ] {
        let declarations = "const D = array(vec2(-1, 0), vec2(0, 2), vec2(5, 1));\n\
                            fn far(q: vec2<i32>, d: i32) -> f32 { return x_load(q + d) + x_load(vec2(q.x + d, q.y)); }";
        assert_eq!(floats(declarations, statements), expected, "{statements}");
    }
}

#[test]
fn positions_that_depend_on_data_have_unlimited_range() {
    for statements in [
        "y_store(p, x_load(p + n));",
        "y_store(p, x_load(p * 2));",
        "y_store(p, x_load(y_extent() - p));",
        "y_store(p, x_load(vec2(i32(y_load(p)), 0)));",
        "y_store(p, x_load(domain_position(id)));",
        "y_store(p, x_load(y_global(p)));",
        "y_store(p, x_load(vec2(p.x + p.y, 0)));",
        "y_store(p, x_load(p) + x_load(p.yx));",
        "y_store(p, x[3]);",
        "y_store(p, x[x_index(p)]);",
        "y_store(p, f32(x_index(p)));",
        "y_store(p, own(3));",
        "var q = p; for (var k = 0; k < 3; k++) { y_store(p, x_load(q)); q += 1; }",
        "var q = p; moved(&q); y_store(p, x_load(q));",
        "var s = 0.0; for (var k = 0; k < n + p.x; k++) { s += x_load(p + vec2(k, 0)); } y_store(p, s);",
        "var s = 0.0; for (var k = 0; k < 3; k++) { s += x_load(p + vec2(k, 0)); k -= i32(y_load(p)); } y_store(p, s);",
        "var q = p; switch p.x { case 1: { q.x = 3; } default: { q.y = n; } } y_store(p, x_load(q));",
    ] {
        let declarations = "fn own(i: u32) -> f32 { return x[i]; }\nfn moved(q: ptr<function, vec2<i32>>) { *q += n; }";
        assert_eq!(floats(declarations, statements), "anywhere", "{statements}");
    }
}

/// The kernel has 2,048 calls of the innermost function, more than the analysis follows.
#[test]
fn nested_calls_beyond_limit_have_unlimited_range() {
    let first = "fn far0(q: vec2<i32>) -> f32 { return x_load(q); }".to_owned();
    let next = |n: usize| format!("fn far{}(q: vec2<i32>) -> f32 {{ return far{n}(q) + far{n}(q); }}", n + 1);
    let functions: Vec<_> = std::iter::once(first).chain((0..11).map(next)).collect();
    assert_eq!(floats(&functions.join("\n"), "y_store(p, far5(p));"), "x[0, 0] y[0, 0]");
    assert_eq!(floats(&functions.join("\n"), "y_store(p, far11(p));"), "anywhere");
}

#[test]
fn access_range_of_packed_cells_has_whole_words() {
    let statements = "y_store(p, f32(x_load(p + vec2(1, -1))));";
    assert_eq!(access_range_text("", statements, Some(Packed::U8)), "x[-2, 4] y[-1, -1]");
    assert_eq!(access_range_text("", statements, Some(Packed::I16)), "x[0, 2] y[-1, -1]");
}
