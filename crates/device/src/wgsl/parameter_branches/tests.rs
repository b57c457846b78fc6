use super::parameter_branches;

const HEAD: &str = "
    @group(0) @binding(0) var<uniform> few: vec4<i32>;
    @group(0) @binding(1) var<uniform> many: array<vec4<i32>, 8>;
    @group(0) @binding(2) var<storage, read_write> x: array<i32>;
    var<private> kept: i32;
    fn double(n: i32) -> i32 { return 2 * n; }
    fn is_small(n: i32) -> bool { if n > 3 { return false; } return true; }
    fn keep(n: i32) { kept = n; }
    fn is_one(n: ptr<function, i32>) -> bool { if *n == 1 { return true; } return false; }
    fn store(n: ptr<function, i32>, to: i32) { *n = to; }
";

/// Returns the number of branches on parameters in an entry point with these statements.
fn count_branches(statements: &str) -> usize {
    let text = format!(
        "{HEAD} @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>, \
         @builtin(workgroup_id) group: vec3<u32>) {{ let i = i32(id.x); {statements} }}"
    );
    let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|error| panic!("{}", error.emit_to_string(&text)));
    let found = parameter_branches(&module, &text);
    assert!(found.iter().all(|one| one.contains(", line ")), "{found:?}");
    found.len()
}

#[test]
fn branches_on_parameters_alone_are_found() {
    for statements in [
        "if few.x > 1 { x[i] = 1; }",
        "if many[3].y * 2 == few.z { x[i] = 1; }",
        "let n = many[1 + 2].x; if double(n) != 4 { x[i] = 1; }",
        "if is_small(few.x) { x[i] = 1; }",
        "x[i] = select(0, 1, few.x > 1 && i > 2);",
        "x[i] = select(0, 1, few.x > 1 || i > 2);",
        "if i > 2 { if few.x == 0 { x[i] = 1; } }",
        "switch few.x { case 1: { x[i] = 1; } default: { x[i] = 2; } }",
        "for (var k = 0; k < few.x; k++) { x[i] += k; }",
        "for (var k = few.y; k < 4; k++) { x[i] += k; }",
        "for (var k = 8; k > 0; k -= few.y) { x[i] += k; }",
        "var k = 0; loop { x[i] += 1; continuing { k += 1; break if k == few.x; } }",
        "var k = 0; while k < few.x { k += 1; }",
        "for (var k = i; k < 9; k++) { if few.x == 3 { x[k] = 1; } }",
        "for (var k = 0; k < 3; k++) { if k < few.x { x[i] += k; } }",
        "for (var k = 0; k < 3; k++) { if many[k].x == 1 { x[i] += k; } }",
        "for (var k = 0; k < 3; k++) { for (var m = k; m < few.x; m++) { x[i] += m; } }",
        "var n = 1; n = few.x; if n > 2 { x[i] = 1; }",
        "var n = 1; if i > 2 { n = few.x; if n > 2 { x[i] = 1; } }",
        "var n = vec2<i32>(); n.x = few.x; if n.x > 2 { x[i] = 1; }",
        "keep(few.x); if kept > 2 { x[i] = 1; }",
        "keep(few.x); for (var k = i; k < 9; k++) { x[k] = double(k); if kept == 3 { x[k] = 1; } }",
        "if all(few.xy == vec2<i32>(1)) { x[i] = 1; }",
        "var n = few.x; if is_one(&n) { x[i] = 1; }",
        "var n = few.x; if is_one(&n) && i > 2 { x[i] = 1; } x[i] = n;",
    ] {
        assert_eq!(count_branches(statements), 1, "{statements}");
    }
}

#[test]
fn other_branches_are_not_found() {
    for statements in [
        "if few.x > i { x[i] = 1; }",
        "if many[i].x > 1 { x[i] = 1; }",
        "x[i] = select(0, 1, few.x > 1);",
        "x[i] = select(0, 1, (few.x > 1) & (i > 2));",
        "if x[few.x] > 1 { x[i] = 1; }",
        "if u32(few.x) < arrayLength(&x) { x[i] = 1; }",
        "if (few.x > 1) & (arrayLength(&x) > 0u) { x[i] = 1; }",
        "for (var k = 0; k < 9; k++) { x[i] += k; }",
        "for (var k = i; k < few.x; k++) { x[i] += k; }",
        "for (var k = i; k < 9; k++) { if k < few.x { x[i] += k; } }",
        "for (var k = 0; k < 3; k++) { if k < 2 { x[i] += few.x; } }",
        "for (var k = i32(group.x); k < few.x; k++) { x[i] += k; }",
        "var n = 1; if i > 2 { n = few.x; } if n > 2 { x[i] = 1; }",
        "var low = 0; var high = few.x; while low < high { let m = (low + high) / 2; \
         if x[m] < i { low = m + 1; } else { high = m; } } x[i] = low;",
        "keep(few.x + i); if kept > 2 { x[i] = 1; }",
        "keep(few.x); for (var k = i; k < 9; k++) { if kept == 3 { x[k] = 1; } keep(k); }",
        "var n = few.x; loop { n = n * 2; if n > 100 { break; } } x[i] = n;",
        "var n = few.x + i; if is_one(&n) { x[i] = 1; }",
        "var n = 1; store(&n, few.x + i); if n > 2 { x[i] = 1; }",
        "var n = 1; if is_one(&n) { x[i] = 1; }",
        "const N = 3; if N > 2 { x[i] = 1; }",
    ] {
        assert_eq!(count_branches(statements), 0, "{statements}");
    }
}
