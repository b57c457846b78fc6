//! Errors in WGSL have the user's file, line and column, also if they occur only in the text with
//! helpers.

use zippy::{Kernel, KernelSource, Layout, LocalArray, Result, World};

use super::report::Report;
use crate::support;

const HEAD: &str = "@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
";

fn kernel(world: &World, text: &str) -> Result<Kernel> {
    world.kernel(KernelSource::text("shaders/user.wgsl", text))
}

/// Kernel of two arrays whose body begins at line 6.
fn kernel_with_body(world: &World, lines: &str) -> Result<Kernel> {
    kernel(world, &format!("{HEAD}{lines}\n}}\n"))
}

#[test]
fn text_invalid_for_all_arguments_is_reported() {
    support::ranks(&[1, 2], |world| {
        let mut report = Report::new(world);
        let mut body_fails = |label: &str, lines: &str| report.fails(label, kernel_with_body(world, lines));
        body_fails("a missing semicolon", "    let p = b_position(id)\n    b_store(p, a_load(p));");
        body_fails("an unknown name", "    let p = b_position(id);\n    b_store(p, a_load(p) + wieght);");
        body_fails("an unknown name after a tab", "\tlet p = b_position(id);\n\tb_store(p, wieght);");
        body_fails("columns count characters", "    /* größer */ let größe = größer;");
        body_fails("a helper that does not exist", "    let p = b_position(id);\n    b_store(p, a_lode(p));");
        body_fails("storing to what is read", "    let p = b_position(id);\n    a_store(p, 1.0);");
        body_fails("wrong operands", "    let p = b_position(id);\n    b_store(p, a_load(p) + 1u);");
        body_fails("a wrong type stored", "    let p = b_position(id);\n    b_store(p, 7u);");
        body_fails("too few arguments", "    let p = b_position(id);\n    b_store(p);");
        body_fails("a bool added", "    let p = b_position(id);\n    let q = b_inside(p) + 1;");
        for (label, lines) in [
            ("a condition that is none", "if a_load(p) { b_store(p, 1.0); }"),
            ("a switch over floats", "switch a_load(p) { default: {} }"),
            ("values of two types to select from", "b_store(p, select(1.0, 2u, true));"),
            ("a condition to select by", "b_store(p, select(1.0, 2.0, a_load(p)));"),
            ("another type assigned", "var sum: f32;\n    sum = 1u;"),
            ("a variable of another type", "var sum: vec2<f32> = a_load(p);"),
            ("an argument of another type", "b_store(p, max(a_load(p), 1u));"),
            ("a function's argument of another type", "b_store(p, twice(vec2<f32>(1.0, 2.0)));"),
            ("an index of another type", "let v = vec2<f32>(1.0, 2.0);\n    b_store(p, v[a_load(p)]);"),
            ("an index beyond a vector", "let v = vec2<f32>(1.0, 2.0);\n    b_store(p, v[2]);"),
            ("a negative float shifted", "b_store(p, a_load(p) << 2u);"),
            ("a sign of what has none", "b_store(p, f32(-b_inside(p)));"),
            ("a matrix times a vector of other rows", "let m = mat2x2<f32>();\n    let v = m * vec3<f32>();"),
            ("a struct added", "let s = Pair(1.0, 2.0) + 1.0;"),
        ] {
            let more = "fn twice(v: f32) -> f32 { return 2.0 * v; }\nstruct Pair { a: f32, b: f32 }";
            let text = format!("{HEAD}    let p = b_position(id);\n    {lines}\n}}\n{more}\n");
            report.fails(label, kernel(world, &text));
        }
        report.fails(
            "another type returned",
            kernel(world, &format!("{HEAD}    let p = b_position(id);\n}}\nfn f(v: f32) -> u32 {{ return v; }}\n")),
        );
        report.fails(
            "directives before all",
            kernel(world, &format!("diagnostic(off, derivative_uniformity);\n{HEAD}  oops\n}}")),
        );
        report.fails(
            "lines that end in CR LF",
            kernel(world, &format!("{HEAD}  let x = wieght;\n}}").replace('\n', "\r\n")),
        );
        report.fails("the end of the file", kernel(world, HEAD));
        report.fails(
            "a name that helpers need",
            kernel(world, &format!("{HEAD}  let p = b_position(id);\n}}\nfn zippy_position() {{}}")),
        );
        report.fails(
            "a comment without an end",
            kernel(world, &format!("{HEAD}  let p = b_position(id);\n}}\n/* see below\n")),
        );
        report.fails("an array with a length", kernel(world, "\n@group(0) @binding(0) var<storage> a: array<f32, 4>;"));
        report.fails("storage that is no array", kernel(world, "@group(0) @binding(0) var<storage> a: vec4<f32>;"));
        report.fails(
            "one binding twice",
            kernel(
                world,
                &format!(
                    "{}  let p = b_position(id);\n  b_store(p, a_load(p));\n}}",
                    HEAD.replace("binding(1)", "binding(0)")
                ),
            ),
        );
        report.fails("a file that is not there", KernelSource::file("shaders/none.wgsl"));
        report.fails("a folder", KernelSource::file("shaders"));
        report.fails("a file without an end", KernelSource::file("/dev/zero"));
        report.compare("wrong_whatever_is_bound");
        Ok(())
    });
}

#[test]
fn text_invalid_for_bound_arrays_is_reported() {
    support::ranks(&[1, 2], |world| {
        let mut report = Report::new(world);
        let floats: LocalArray<f32, 2> = world.local_array("floats", &Layout::new([8, 4]))?;
        let others: LocalArray<f32, 2> = world.local_array("others", &Layout::new([8, 4]))?;
        let line: LocalArray<f32, 1> = world.local_array("line", &Layout::new([8]))?;
        let bytes: LocalArray<u8, 2> = world.local_array("bytes", &Layout::new([8, 4]))?;
        let words: LocalArray<u32, 2> = world.local_array("words", &Layout::new([8, 4]))?;
        let three = kernel_with_body(
            world,
            "    let p = b_position(id);\n    let q: vec3<i32> = p;\n    b_store(p, a_load(p));",
        )?;
        report.fails("another number of axes", three.call().read("a", line.all()).write("b", floats.all()).run());
        for (label, lines) in [
            ("a step along an axis too many", "b_store(p, a_load(p - vec3<i32>(1, 0, 0)));"),
            ("a difference of positions", "let x = vec3<i32>(1, 0, 0);\n    b_store(p, a_load(p - x));"),
            ("a position declared with an axis too many", "var q: vec3<i32>;\n    q = p;\n    b_store(p, a_load(p));"),
            ("an axis that there is not", "b_store(p, a_load(p) + f32(p.z));"),
        ] {
            let kernel = kernel_with_body(world, &format!("    let p = b_position(id);\n    {lines}"))?;
            report.fails(label, kernel.call().read("a", others.all()).write("b", floats.all()).run());
        }
        let steps = kernel_with_body(world, "    let p = b_position(id);\n    b_store(p, f32(p.y));")?;
        report.fails("an axis that a line has not", steps.call().read("a", others.all()).write("b", line.all()).run());
        let other = kernel_with_body(world, "    let p = b_position(id);\n    b_store(p, a_load(p));")?;
        report.fails("a position for another array", other.call().read("a", line.all()).write("b", floats.all()).run());
        let places = kernel_with_body(
            world,
            "    let p = b_position(id);\n    let q = a_position(id);\n    b_store(p, a_load(q));",
        )?;
        report.fails("no position", places.call().read("a", line.all()).write("b", floats.all()).run());
        let text = |ty: &str, call: &str| {
            format!(
                "@group(0) @binding(0) var<storage, read_write> x: array<{ty}>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = x_position(id);
    {call};
}}
"
            )
        };
        let cells = kernel(world, &text("u32", "x_store(p, 1u)"))?;
        report.fails("a cell stored where words are written", cells.call().write("x", bytes.all()).run());
        cells.call().write("x", words.all()).run()?;
        let whole = kernel(world, &text("u32", "x_store_word(p, vec4<u32>(7u))"))?;
        report.fails("a word stored where cells are written", whole.call().write("x", words.all()).run());
        whole.call().write("x", bytes.all()).run()?;
        let atomic = kernel(world, &text("atomic<u32>", "if x_inside_word(p) { x_store_word(p, vec4<u32>(7u)); }"))?;
        report.fails("a word stored where cells are atomic", atomic.call().write("x", bytes.all()).run());
        let index = kernel(world, &text("u32", "x[x_index(p)] = 3u"))?;
        report.fails("an index of packed cells", index.call().write("x", bytes.all()).run());
        report.compare("wrong_for_what_is_bound");
        Ok(())
    });
}

#[test]
fn invalid_entry_points_and_unsupported_kernels_are_reported() {
    support::ranks(&[1, 2], |world| {
        let mut report = Report::new(world);
        let x: LocalArray<f32, 1> = world.local_array("x", &Layout::new([300]))?;
        let text = |functions: &str| {
            kernel(world, &format!("@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n{functions}"))
        };
        let function = |name: &str, size: &str| {
            format!(
                "@compute @workgroup_size({size}) fn {name}(@builtin(global_invocation_id) id: vec3<u32>) {{\n    x_store(x_position(id), 2.0);\n}}\n"
            )
        };
        let two = text(&(function("first", "64") + &function("second", "64")))?;
        report.fails("several entry points", two.call().write("x", x.all()).run());
        report.fails("an unknown entry point", two.entry("third"));
        two.entry("second")?.call().write("x", x.all()).run()?;
        assert!(x.all().read()?.iter().all(|&v| v == 2.0));
        let none = text("fn helper() -> f32 { return x[0]; }")?;
        report.fails("no entry point", none.call().write("x", x.all()).run());
        report.fails("a function that is none", none.entry("helper").and_then(|k| k.call().write("x", x.all()).run()));
        let sized = text(&format!("override size: u32 = 64;\n{}", function("main", "size")))?;
        report.fails("an override", sized.call().write("x", x.all()).run());
        report.fails("a workgroup beyond all devices", text(&function("main", "65536")));
        // The message ends with the limit of the device, which differs between devices.
        let huge = text(&function("main", "16384"))?;
        let error = huge.call().write("x", x.all()).run().expect_err("a huge workgroup").to_string();
        let most = world.gpu().limits().wgpu.max_compute_workgroup_size_x.to_string();
        assert!(["16384", &most, &world.gpu().adapter().name].iter().all(|part| error.contains(part)), "{error}");
        let texture = text(&format!(
            "@group(1) @binding(0) var picture: texture_2d<f32>;\n{}",
            function("main", "64").replace("2.0", "textureLoad(picture, vec2<i32>(0), 0).x")
        ))?;
        report.fails("a texture", texture.call().write("x", x.all()).run());
        report.compare("entry_points");
        Ok(())
    });
}
