//! Kernels and arrays at the limits: many bindings and functions, long texts, no cells, and chunks
//! larger than a binding.
//!
//! Each has the cells of its definition, or an error with kernel and limit: natively with and
//! without a driver, and by a driver.

use std::fmt::Write;

use zippy::{KernelSource, Layout, LocalArray, Split, World};

use crate::support;

/// Seven arrays of different element types, one written array, and parameters.
const EIGHT: &str = "
struct Params { scale: u32, shift: vec3<i32>, weight: vec2<f32> }
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read> numbers: array<i32>;
@group(0) @binding(2) var<storage, read> floats: array<f32>;
@group(0) @binding(3) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> fours: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> bytes: array<u32>;
@group(1) @binding(0) var<storage, read> halves: array<u32>;
@group(1) @binding(1) var<storage, read_write> out: array<u32>;
@group(1) @binding(2) var<uniform> params: Params;
@group(2) @binding(0) var<uniform> last: u32;
@compute @workgroup_size(8, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = out_position(id);
    if !out_inside(p) { return; }
    let beyond = p + vec2<i32>(1, 0);
    var sum = words_load(p) * params.scale;
    sum += u32(numbers_load(beyond) + params.shift.x * params.shift.y - params.shift.z) * 3u;
    sum += u32(floats_load(p) * params.weight.x + params.weight.y) * 5u;
    sum += pairs_load(beyond).y * 7u + pairs_load(p).x * 11u;
    sum += u32(fours_load(p).z) * 13u + bytes_load(beyond) * 17u;
    out_store(p, sum + u32(halves_load(p) + 700) * 19u + last);
}";

#[test]
fn kernel_with_eight_arrays_and_parameters_runs() {
    support::ranks(&[1, 3], |world| {
        let layout = Layout::new([37, 11]).split([Split::Even(world.size()), Split::Even(2)]).ghost([1, 0]);
        let layout = layout.periodic([true, false]);
        let at = |[x, y]: [i64; 2]| x.rem_euclid(37) + 37 * y;
        let words = world.array::<u32, 2>("words", &layout)?;
        let numbers = world.array::<i32, 2>("numbers", &layout)?;
        let floats = world.array::<f32, 2>("floats", &layout)?;
        let pairs = world.array::<[u32; 2], 2>("pairs", &layout)?;
        let fours = world.array::<[f32; 4], 2>("fours", &layout)?;
        let bytes = world.array::<u8, 2>("bytes", &layout)?;
        let halves = world.array::<i16, 2>("halves", &layout)?;
        let out = world.array::<u32, 2>("out", &layout)?;
        words.fill_with(|p| (at(p) as u32).wrapping_mul(0x9e37_79b9))?;
        numbers.fill_with(|p| 1000 - at(p) as i32)?;
        floats.fill_with(|p| at(p) as f32 + 0.5)?;
        pairs.fill_with(|p| [at(p) as u32, !(at(p) as u32)])?;
        fours.fill_with(|p| [0.0, -1.0, at(p) as f32, 9.0])?;
        bytes.fill_with(|p| (at(p) % 251) as u8)?;
        halves.fill_with(|p| at(p) as i16 - 600)?;
        world.ghosts(&numbers)?;
        world.ghosts(&pairs)?;
        world.ghosts(&bytes)?;
        let kernel = world.kernel(KernelSource::text("eight.wgsl", EIGHT))?;
        let first = zippy::zip_chunks((&words, &numbers, &floats, &pairs))?;
        let second = zippy::zip_chunks((&fours, &bytes, &halves, &out))?;
        for ((words, numbers, floats, pairs), (fours, bytes, halves, chunk)) in first.into_iter().zip(second) {
            let call = kernel.call().read("words", words.all()).read("numbers", numbers.all());
            let call = call.read("floats", floats.all()).read("pairs", pairs.all()).read("fours", fours.all());
            let call = call.read("bytes", bytes.all()).read("halves", halves.all()).write("out", chunk.all());
            let call = call.param("scale", 3_u32).param("shift", [5, -7, 2]).param("weight", [2.0_f32, 1.0]);
            call.param("last", 12_345_u32).run()?;
            for (p, found) in chunk.region().points().zip(chunk.all().read()?) {
                let [here, next] = [at([p[0], p[1]]), at([p[0] + 1, p[1]])].map(|at| at as u32);
                let terms = [
                    here.wrapping_mul(0x9e37_79b9).wrapping_mul(3),
                    (1000 - next as i32 - 35 - 2).cast_unsigned().wrapping_mul(3),
                    (2 * here + 2) * 5,
                    (!next).wrapping_mul(7),
                    here * 11 + here * 13 + next % 251 * 17 + (here + 100) * 19 + 12_345,
                ];
                assert_eq!(found, terms.iter().fold(0_u32, |sum, term| sum.wrapping_add(*term)), "{p:?}");
            }
        }
        Ok(())
    });
}

/// Checks a kernel of one function `value(u32) -> u32` on a small array.
fn check_function(name: &'static str, functions: &str, value: impl Fn(u32) -> u32 + Send + Sync) {
    let text = format!(
        "{functions}
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = x_position(id);
    if x_inside(p) {{ x_store(p, value(x_linear(p).x + 1u)); }}
}}"
    );
    support::ranks(&[1], |world| {
        let x: LocalArray<u32, 2> = world.local_array("x", &Layout::new([19, 5]))?;
        world.kernel(KernelSource::text(name, text.as_str()))?.call().update("x", x.all()).run()?;
        let expected: Vec<u32> = (1..=95).map(&value).collect();
        assert_eq!(x.all().read()?, expected, "{name}");
        Ok(())
    });
}

#[test]
fn kernel_with_100_nested_functions_runs() {
    let mut functions = String::from("fn level0(x: u32) -> u32 { return x * 5u; }\n");
    for depth in 1..100 {
        let _ = writeln!(
            functions,
            "fn level{depth}(x: u32) -> u32 {{ var y = x; if y % 3u == 1u {{ y += {depth}u; }} return level{}(y * 3u + 1u) ^ y; }}",
            depth - 1
        );
    }
    functions += "fn value(x: u32) -> u32 { return level99(x); }";
    fn nested(depth: u32, x: u32) -> u32 {
        if depth == 0 {
            return x.wrapping_mul(5);
        }
        let y = if x % 3 == 1 { x.wrapping_add(depth) } else { x };
        nested(depth - 1, y.wrapping_mul(3).wrapping_add(1)) ^ y
    }
    check_function("nested.wgsl", &functions, |x| nested(99, x));
}

/// Several functions, because the time to parse a function grows with the square of its length.
#[test]
fn kernel_with_10_000_statements_runs() {
    const PARTS: u32 = 100;
    const STATEMENTS: u32 = 100;
    let mut functions = String::new();
    for part in 0..PARTS {
        let _ = writeln!(functions, "fn part{part}(x: u32) -> u32 {{ var y = x;");
        for number in 0..STATEMENTS {
            let _ = writeln!(functions, "y = (y ^ (y >> {}u)) * {}u + {part}u;", 1 + number % 7, 2 * number + 3);
        }
        functions += "return y; }\n";
    }
    functions += "fn value(x: u32) -> u32 { var y = x;\n";
    (0..PARTS).for_each(|part| functions += &format!("y = part{part}(y);\n"));
    functions += "return y; }";
    check_function("long.wgsl", &functions, |x| {
        let steps = (0..PARTS).flat_map(|part| (0..STATEMENTS).map(move |number| (part, number)));
        steps.fold(x, |y, (part, number)| (y ^ (y >> (1 + number % 7))).wrapping_mul(2 * number + 3).wrapping_add(part))
    });
}

#[test]
fn kernel_on_empty_chunks_and_regions_runs() {
    const TEXT: &str = "
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<u32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = output_position(id);
    if output_inside(p) { output_store(p, input_load(p) + u32(input_extent()) + 1u); }
}";
    support::ranks(&[1, 2], |world: &World| {
        let layout = Layout::new([9]).split([Split::Sizes(vec![0, 4, 0, 5])]);
        let input = world.array::<u32, 1>("input", &layout)?;
        let output = world.array::<u32, 1>("output", &layout)?;
        input.fill_with(|[x]| 100 * x as u32)?;
        let kernel = world.kernel(KernelSource::text("empty.wgsl", TEXT))?;
        for (a, b) in zippy::zip_chunks((&input, &output))? {
            kernel.call().read("input", a.all()).write("output", b.all()).run()?;
            // Empty output section.
            kernel.call().read("input", a.all()).write("output", b.at(0..0)).run()?;
            kernel.call().read("input", a.all()).write("output", b.all()).over(b.at(0..0)).run()?;
            let region = b.region();
            let cells = region.extents()[0] as u32;
            let expected: Vec<u32> = region.points().map(|p| 100 * p[0] as u32 + cells + 1).collect();
            assert_eq!(b.all().read()?, expected);
        }
        // Empty input and a non-empty output.
        let none: LocalArray<u32, 1> = world.local_array("none", &Layout::new([0]))?;
        let some: LocalArray<u32, 1> = world.local_array("some", &Layout::new([3]))?;
        kernel.call().read("input", none.all()).write("output", some.all()).run()?;
        assert_eq!(some.all().read()?, [1; 3]);
        Ok(())
    });
}

/// A chunk slightly larger than a driver's binding: natively, and by the driver for a kernel that
/// cannot be compiled natively.
#[test]
fn chunk_larger_than_binding_of_driver_is_processed() {
    const NATIVE: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = x_position(id);
    if x_inside(p) { x_store(p, u32(p) * 7u + 1u); }
}";
    const LANES: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = x_position(id);
    let most = subgroupMax(u32(p));
    if x_inside(p) { x_store(p, u32(p) * 7u + min(most, 1u)); }
}";
    support::ranks(&[1], |world: &World| {
        let limits = &world.gpu().limits().wgpu;
        let binding = limits.max_storage_buffer_binding_size;
        if binding > 1 << 28 || world.gpu().limits().binding_bytes < binding {
            return Ok(());
        }
        let cells = binding as i64 / 4 + 100;
        let x: LocalArray<u32, 1> = world.local_array("x", &Layout::new([cells]))?;
        let last = x.at(cells - 3..);
        let kernel = |name, text| world.kernel(KernelSource::text(name, text));
        kernel("native.wgsl", NATIVE)?.call().update("x", x.all()).run()?;
        let expected: Vec<u32> = (cells - 3..cells).map(|x| x as u32 * 7 + 1).collect();
        assert_eq!(last.read()?, expected);
        let lanes = match kernel("lanes.wgsl", LANES) {
            Ok(lanes) => lanes,
            Err(error) => {
                assert!(error.to_string().contains("subgroup operations"), "{error}");
                return Ok(());
            }
        };
        let run = lanes.call().update("x", x.all()).run();
        if world.gpu().is_native() {
            let error = run.unwrap_err().to_string();
            let adapter = &world.gpu().adapter().name;
            let large = format!("array \"x\" has {} bytes; {adapter} binds at most {binding}", 4 * cells);
            let limit = if world.gpu().has_driver() { &large } else { "do not support subgroups" };
            assert!(error.contains("kernel lanes.wgsl: ") && error.contains(limit), "{error}");
        } else {
            run?;
            assert_eq!(last.read()?, expected);
        }
        Ok(())
    });
}

fn all() {
    kernel_with_eight_arrays_and_parameters_runs();
    kernel_with_100_nested_functions_runs();
    kernel_with_10_000_statements_runs();
    kernel_on_empty_chunks_and_regions_runs();
    chunk_larger_than_binding_of_driver_is_processed();
}

zippy_testing::with_variables! {
    without_driver, [
        ("VK_ICD_FILENAMES", "/nonexistent"), ("VK_DRIVER_FILES", "/nonexistent"), ("ZIPPY_HOST_MAP", "1"),
    ], all
}

zippy_testing::with_variables! {
    by_driver, [("ZIPPY_KERNELS", "driver")], all
}
