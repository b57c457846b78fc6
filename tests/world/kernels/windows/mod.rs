//! Chunks larger than a binding: calls in parts with one window per array, and helpers that select
//! one of several windows.

mod arrays;
mod parts;

use std::process::Command;

use zippy::region::Region;
use zippy::{Element, KernelSource, Layout, LocalArray, Result, World};

use crate::support;

/// Smallest possible limit of a binding, in bytes.
const BINDING_LIMIT: &str = "4096";

/// Runs the tests of this module in a process with small bindings. Each test checks its
/// requirements.
#[test]
fn small_bindings() {
    if std::env::var_os("ZIPPY_BINDING_LIMIT").is_some() || support::launcher::size().is_some() {
        return;
    }
    let mut command = Command::new(std::env::current_exe().expect("a test binary has a path"));
    let output = command.args(["windows::"]).env("ZIPPY_BINDING_LIMIT", BINDING_LIMIT).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    for test in [
        "plain_cells",
        "bytes_by_words",
        "atomic_halves",
        "too_many",
        "one_window",
        "parts::kernels_with_branches_and_loops_have_the_cells_of_their_definition",
        "parts::kernels_over_several_boxes_have_the_cells_of_their_definition",
        "parts::numbers_of_invocations_begin_once",
        "arrays::functions_fill_arrays_larger_than_a_binding",
        "arrays::arrays_larger_than_a_binding_are_reduced",
        "arrays::lengths_are_those_of_arrays",
    ] {
        assert!(text(&output.stdout).contains(&format!("{test} ... ok")), "{}", text(&output.stdout));
    }
}

/// True if the adapter has enough bindings for the large arrays of these tests; otherwise the
/// arrays are smaller.
fn has_many_bindings(world: &World) -> bool {
    world.gpu().limits().wgpu.max_storage_buffers_per_shader_stage >= 24
}

/// Arguments of an entry point: without and with one that prevents calls in parts.
const ARGUMENTS: [&str; 2] = [
    "@builtin(global_invocation_id) id: vec3<u32>",
    "@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32",
];

/// Kernel that computes each cell of type `cell` from its neighbours along the slowest axis, which
/// are in other windows.
fn shifted(cell: &str, arguments: &str) -> KernelSource {
    let text = format!(
        "@group(0) @binding(0) var<storage, read> a: array<{cell}>;
@group(0) @binding(1) var<storage, read_write> b: array<{cell}>;
@compute @workgroup_size(64)
fn main({arguments}) {{
    let p = b_position(id);
    if !b_inside(p) {{ return; }}
    let step = vec2<i32>(0, 7);
    b_store(p, a_load(p - step) - a_load(p + step) + b_load(p));
}}
"
    );
    KernelSource::text("shifted.wgsl", text)
}

fn plain<T: Element + PartialEq + std::fmt::Debug>(
    world: &World,
    cell: &str,
    of: impl Fn(i64) -> T,
    sum: impl Fn(T, T, T) -> T,
) -> Result<()> {
    for arguments in ARGUMENTS {
        plain_with(world, cell, &of, &sum, arguments)?;
    }
    Ok(())
}

fn plain_with<T: Element + PartialEq + std::fmt::Debug>(
    world: &World,
    cell: &str,
    of: &impl Fn(i64) -> T,
    sum: &impl Fn(T, T, T) -> T,
    arguments: &str,
) -> Result<()> {
    let width = if has_many_bindings(world) { 53 } else { 53 * 4 / size_of::<T>() as i64 };
    let layout = Layout::new([width, 41]).ghost([0, 7]);
    let a: LocalArray<T, 2> = world.local_array("a", &layout)?;
    let b: LocalArray<T, 2> = world.local_array("b", &layout)?;
    let (from, to) = (a.with_ghosts(), b.with_ghosts());
    let storage = from.region()?;
    let value = |n: i64| of(n * 3 % 1009);
    from.write(&(0..storage.cells() as i64).map(value).collect::<Vec<_>>())?;
    to.write(&(0..storage.cells() as i64).map(|n| of(n % 23)).collect::<Vec<_>>())?;
    world.kernel(shifted(cell, arguments))?.call().read("a", a.all()).update("b", b.at((3..width - 3, ..))).run()?;
    for (n, (p, got)) in storage.points().zip(to.read()?).enumerate() {
        let n = n as i64;
        let written = Region::new(&[3, 0], &[width - 3, 41])?.contains(&p);
        // The section of `b` begins three cells later; positions are shared.
        let expected =
            if written { sum(value(n - 3 - 7 * width), value(n - 3 + 7 * width), of(n % 23)) } else { of(n % 23) };
        assert_eq!(got, expected, "{cell} at {p:?}");
    }
    Ok(())
}

#[test]
fn plain_cells() {
    support::ranks(&[1, 2], |world| {
        plain(world, "u32", |n| n as u32, |a, b, c| a.wrapping_sub(b).wrapping_add(c))?;
        plain(world, "f32", |n| n as f32, |a, b, c| a - b + c)?;
        plain(world, "vec2<i32>", |n| [n as i32, -5], |a, b, c| [a[0] - b[0] + c[0], -5])?;
        plain(
            world,
            "vec4<f32>",
            |n| [n as f32, 1.0, -n as f32, 0.5],
            |a, b, c| std::array::from_fn(|i| a[i] - b[i] + c[i]),
        )
    });
}

/// Cell of 12 bytes, a size that does not divide a window.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Odd {
    a: u32,
    b: u32,
    c: u32,
}

#[test]
fn plain_cells_of_odd_size() {
    support::ranks(&[1], |world| {
        let text = "
struct Odd { a: u32, b: u32, c: u32 }
@group(0) @binding(0) var<storage, read_write> x: array<Odd>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = x_position(id);
    if !x_inside(p) { return; }
    let odd = x_load(p);
    x_store(p, Odd(odd.c, odd.a ^ u32(p), odd.b));
}
";
        let x: LocalArray<Odd, 1> = world.local_array("x", &Layout::new([2500]))?;
        let odd = |n: u32| Odd { a: n, b: 10_000 + n, c: 20_000 + n };
        x.all().write(&(0..2500).map(odd).collect::<Vec<_>>())?;
        world.kernel(KernelSource::text("odd.wgsl", text))?.call().update("x", x.all()).run()?;
        let expected: Vec<_> = (0..2500).map(|n| Odd { a: 20_000 + n, b: 0, c: 10_000 + n }).collect();
        assert_eq!(x.all().read()?, expected);
        Ok(())
    });
}

#[test]
fn bytes_by_words() {
    support::ranks(&[1, 2], |world| {
        const TEXT: &str = "
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(64)
fn main(ARGUMENTS) {
    let p = b_position(id);
    if !b_inside_word(p) { return; }
    var cells: vec4<i32>;
    for (var k = 0; k < 4; k++) {
        let q = p + vec2<i32>(k, 0);
        cells[k] = a_load(q + vec2<i32>(0, 9)) - a_load(q - vec2<i32>(0, 9));
    }
    b_store_word(p, cells);
}
";
        for arguments in ARGUMENTS {
            let height = if has_many_bindings(world) { 140 } else { 70 };
            let layout = Layout::new([131, height]).ghost([3, 9]);
            let a: LocalArray<i8, 2> = world.local_array("a", &layout)?;
            let b: LocalArray<i8, 2> = world.local_array("b", &layout)?;
            let storage = a.with_ghosts().region()?;
            let value = |n: i64| (n * 7 % 251) as i8;
            a.with_ghosts().write(&(0..storage.cells() as i64).map(value).collect::<Vec<_>>())?;
            b.with_ghosts().write(&vec![77; storage.cells() as usize])?;
            world
                .kernel(KernelSource::text("bytes.wgsl", TEXT.replace("ARGUMENTS", arguments)))?
                .call()
                .read("a", a.at((1..130, ..)))
                .write("b", b.at((1..130, ..)))
                .run()?;
            let row = storage.extents()[0];
            for (n, (p, got)) in storage.points().zip(b.with_ghosts().read()?).enumerate() {
                let n = n as i64;
                let written = (1..130).contains(&p[0]) && (0..height).contains(&p[1]);
                let expected = if written { value(n + 9 * row).wrapping_sub(value(n - 9 * row)) } else { 77 };
                assert_eq!(got, expected, "{p:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn atomic_halves() {
    support::ranks(&[1], |world| {
        let text = "
@group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = x_position(id);
    if x_inside(p) { x_store(p, x_load(p) ^ u32(p * 5)); }
}
";
        let x: LocalArray<u16, 1> = world.local_array("x", &Layout::new([9001]))?;
        x.all().write(&(0..9001).map(|n| (n * 11) as u16).collect::<Vec<_>>())?;
        world.kernel(KernelSource::text("halves.wgsl", text))?.call().update("x", x.at(1..9000)).run()?;
        let expected = |n: u32| (n * 11) as u16 ^ if (1..9000).contains(&n) { ((n - 1) * 5) as u16 } else { 0 };
        assert!(x.all().read()?.into_iter().eq((0..9001).map(expected)));
        Ok(())
    });
}

/// Number of bindings of a kernel, and their total bytes; `None` if these are too many for a test.
/// The test `small_bindings` sets a limit.
fn all_bindings(world: &World) -> Option<(u64, u64)> {
    let limits = world.gpu().limits();
    let most = u64::from(limits.wgpu.max_storage_buffers_per_shader_stage);
    let bytes = limits.binding_bytes.saturating_mul(most);
    (bytes <= 64 << 20).then_some((most, bytes))
}

/// The error names the remedy. A kernel that accesses only cells around its position needs one
/// window, so that it runs.
#[test]
fn too_many() {
    support::ranks(&[1, 2], |world| {
        let Some((most, bytes)) = all_bindings(world) else { return Ok(()) };
        let x: LocalArray<f32, 1> = world.local_array("x", &Layout::new([bytes / 4 + 1]))?;
        let y: LocalArray<f32, 1> = world.local_array("y", &Layout::new([16]))?;
        let text = "
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = y_position(id);
    if y_inside(p) { y_store(p, x_load(p * 2)); }
}
";
        let kernel = world.kernel(KernelSource::text("copy.wgsl", text))?;
        let error =
            kernel.call().read("x", x.all()).write("y", y.all()).run().expect_err("too many").kind().to_string();
        let expected = format!("{} storage bindings are needed, {most} of them because chunks are larger", most + 2);
        assert!(error.contains(&expected), "{error}");
        assert!(error.ends_with(&format!("{} has {most}", world.gpu().adapter().name)), "{error}");
        Ok(())
    });
}

#[test]
fn one_window() {
    support::ranks(&[1, 2], |world| {
        let Some((_, bytes)) = all_bindings(world) else { return Ok(()) };
        let cells = bytes as i64 / 4 + 1001;
        let layout = Layout::new([cells]).ghost([2]);
        let (x, y) = (world.local_array::<u32, 1>("x", &layout)?, world.local_array::<u32, 1>("y", &layout)?);
        x.with_ghosts().write(&(0..cells as u32 + 4).collect::<Vec<_>>())?;
        let text = "
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = y_position(id);
    var sum = 0u;
    for (var k = -2; k <= 2; k++) { sum += x_load(p + k); }
    if y_inside(p) { y_store(p, sum); }
}
";
        world.kernel(KernelSource::text("sum.wgsl", text))?.call().read("x", x.all()).write("y", y.all()).run()?;
        assert!(y.all().read()?.into_iter().eq((0..cells as u32).map(|n| 5 * (n + 2))));
        Ok(())
    });
}
