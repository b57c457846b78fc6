//! Large programs, and constructs that native kernels do not support.

use std::fmt::Write;
use std::time::{Duration, Instant};

use zippy_native::lower::lower_with_source;

use crate::verifier::verify;
use crate::{run_body, try_lower, validate};

#[test]
fn calls_nest_100_deep() {
    let mut declarations = String::from("fn f0(n: u32) -> u32 { if (n > 5u) { return n; } return n + 1u; }\n");
    for depth in 1..100 {
        let _ = writeln!(
            declarations,
            "fn f{depth}(n: u32) -> u32 {{ for (var i = 0u; i < 1u; i++) {{ if (n == 77u) {{ return 5u; }}
                 return f{}(n) + 1u; }} return 0u; }}",
            depth - 1
        );
    }
    assert_eq!(run_body(&declarations, "out[0] = f99(input[0]); out[1] = f99(9u);", &[2], 2), [102, 108]);
}

#[test]
fn kernel_of_10_000_statements_lowers_quickly() {
    let mut source = String::from(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         @group(0) @binding(1) var<storage, read> input: array<u32>;
         var<private> x: u32; var<private> v: vec4<f32>;\n",
    );
    // The time to parse grows with the square of a function's length.
    for part in 0..50 {
        let _ = writeln!(source, "fn part{part}() {{");
        for number in 0..100 {
            let _ = writeln!(source, "x = x * {}u + input[{}u];", number | 1, number % 4);
            let _ = writeln!(source, "v = v * 1.5 + vec4(f32(x), 1.0, 2.0, 3.0);");
        }
        source.push_str("}\n");
    }
    let calls: String = (0..50).map(|part| format!("part{part}();\n")).collect();
    let _ = writeln!(source, "@compute @workgroup_size(1) fn main() {{ {calls} out[0] = x; out[1] = u32(v.y); }}");
    let (module, info) = validate(&source);
    let begin = Instant::now();
    let kernel = lower_with_source(&module, &info, "main", &source).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    eprintln!("{:?} for {} values", begin.elapsed(), kernel.values.len());
    verify(&kernel);
    assert!(kernel.body.len() > 10_000);
}

#[test]
fn exponentially_many_calls_are_an_error_that_names_the_function() {
    let mut source = String::from(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         fn f0(n: u32) -> u32 { return n * 3u + out[n]; }\n",
    );
    for depth in 1..60 {
        let below = depth - 1;
        let _ = writeln!(source, "fn f{depth}(n: u32) -> u32 {{ return f{below}(n) + f{below}(n + 1u); }}");
    }
    source.push_str("@compute @workgroup_size(1) fn main() { out[0] = f59(1u); }");
    let error = try_lower(&source).unwrap_err().to_string();
    assert!(error.contains("more than 200000 statements after inlining, reached in function `f"), "{error}");
}

#[test]
fn exponentially_many_calls_of_empty_functions_are_an_error() {
    let mut source = String::from("fn f0() {}\n");
    for depth in 1..60 {
        let _ = writeln!(source, "fn f{depth}() {{ f{}(); f{}(); }}", depth - 1, depth - 1);
    }
    source.push_str("@compute @workgroup_size(1) fn main() { f59(); }");
    assert!(try_lower(&source).is_err());
}

#[test]
fn nesting_deeper_than_the_limit_is_an_error() {
    let mut source = String::from(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
         fn f0(n: u32) { out[n] = n; }\n",
    );
    for depth in 1..300 {
        let _ = writeln!(
            source,
            "fn f{depth}(n: u32) {{ if (out[n] > 1u) {{ if (out[n] > 2u) {{ if (n > 3u) {{ f{}(n + 1u); }} }} }} }}",
            depth - 1
        );
    }
    source.push_str("@compute @workgroup_size(1) fn main() { f299(out[0]); }");
    let error = try_lower(&source).unwrap_err().to_string();
    assert!(error.contains("more than 500 nested blocks"), "{error}");
}

#[test]
fn nesting_to_the_limit_fits_a_small_stack() {
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(|| {
        let mut declarations = String::from("fn f0(n: u32) -> u32 { return n; }\n");
        for depth in 1..120 {
            let _ = writeln!(
                declarations,
                "fn f{depth}(n: u32) -> u32 {{ var r = n; if (n > {depth}u) {{ if (n > 3u) {{ switch (n) {{
                     case 5u: {{ }} default: {{ r = f{}(n) + 1u; }} }} }} }} return r; }}",
                depth - 1
            );
        }
        run_body(&declarations, "out[0] = f119(input[0]);", &[2000], 1)
    });
    assert_eq!(thread.unwrap().join().unwrap(), [2119]);
}

#[test]
fn unsupported_constructs_are_named_with_their_line() {
    let cases = [
        (
            "@group(0) @binding(0) var t: texture_2d<f32>;
             @compute @workgroup_size(1) fn main() { let x = textureLoad(t, vec2(0, 0), 0); }",
            "native kernels do not support textures (line 1)",
        ),
        (
            "override n: u32;
             @group(0) @binding(0) var<storage, read_write> out: array<u32>;
             @compute @workgroup_size(1) fn main() {
                 out[0] = n;
             }",
            "native kernels do not support overrides without a value (line 4)",
        ),
        (
            "override n: u32 = 4;
             @compute @workgroup_size(n) fn main() {}",
            "native kernels do not support overrides without a value",
        ),
        (
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
             @compute @workgroup_size(1) fn main() {
                 out[0] = subgroupAdd(out[1]);
             }",
            "native kernels do not support subgroups (line 3)",
        ),
        (
            "@fragment fn main() -> @location(0) vec4<f32> { return vec4(1.0); }",
            "native kernels do not support entry points of other stages than compute",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(try_lower(source).unwrap_err().to_string(), expected);
    }
    let missing = try_lower("@compute @workgroup_size(1) fn other() {}").unwrap_err();
    assert_eq!(missing.to_string(), "native kernels do not support a missing entry point `main`");
}

#[test]
fn values_of_too_many_scalars_are_an_error() {
    let source = "@group(0) @binding(0) var<storage, read_write> out: array<array<f32, 1000>, 1000>;
        @compute @workgroup_size(1) fn main() { let all = out; out[1][1] = all[2][3]; }";
    let error = try_lower(source).unwrap_err().to_string();
    assert_eq!(error, "native kernels do not support values of 1000000 scalars (line 2)");
}
