//! Errors of kernel calls: names, access, types, aliases and parameters. The message lists the
//! declarations of the shader.

use std::rc::Rc;

use zippy::device::{Device, DeviceOptions};
use zippy::{Element, Kernel, KernelSource, Layout, LocalArray, Result, Split, World};

use super::report::Report;
use crate::support;

const TWO: &str = "
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@group(0) @binding(2) var<storage, read> spare: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = b_position(id);
    if b_inside(p) { b_store(p, a_load(p)); }
}
";

fn user_kernel(world: &World, text: &str) -> Result<Kernel> {
    world.kernel(KernelSource::text("shaders/user.wgsl", text))
}

#[test]
fn invalid_names_access_and_aliases_are_reported() {
    support::ranks(&[1, 2], |world| {
        let mut report = Report::new(world);
        let two = user_kernel(world, TWO)?;
        let x: LocalArray<f32, 1> = world.local_array("x", &Layout::new([16]))?;
        let y: LocalArray<f32, 1> = world.local_array("y", &Layout::new([16]))?;
        let words: LocalArray<u32, 1> = world.local_array("words", &Layout::new([16]))?;
        let short: LocalArray<u32, 1> = world.local_array("short", &Layout::new([4]))?;
        let (x, y) = (x.at(0..8), y.at(0..8));
        report.fails("an unknown name", two.call().read("A", &x).write("b", &y).run());
        report.fails("a name given twice", two.call().read("a", &x).read("a", &x).write("b", &y).run());
        report.fails("a section not given", two.call().write("b", &y).run());
        report.fails("no section given", two.call().run());
        report.fails(
            "a section that is not used",
            two.call().read("a", &x).write("b", &y).read("spare", words.all()).run(),
        );
        let reads = user_kernel(
            world,
            &TWO.replace("read_write> b", "read> b").replace("b_store(p, a_load(p))", "_ = a_load(p)"),
        )?;
        report.fails("nothing written", reads.call().read("a", &x).read("b", &y).run());
        report.fails("written, declared read", two.call().write("a", &x).write("b", &y).run());
        report.fails("read, declared read_write", two.call().read("a", &x).read("b", &y).run());
        report.fails("updated, declared read", two.call().update("a", &x).write("b", &y).run());
        report.fails("over another index space", two.call().read("a", &x).write("b", &y).over(short.at(0..3)).run());
        let local: LocalArray<f32, 1> = world.local_array("local", &Layout::new([16]).ghost([2]))?;
        let overlap = two.call().read("a", local.at(0..8)).write("b", local.at(8..16));
        report.fails("one array read and written", overlap.run());
        report.fails("a region that does not fit", two.call().read("a", &x).write("b", local.at(0..19)).run());
        let both = user_kernel(world, &TWO.replace("read> a", "read_write> a"))?;
        let overlap = |from| both.call().write("a", local.at(0..8)).update("b", local.at(from..from + 8)).run();
        report.fails("one cell written twice", overlap(7));
        overlap(8)?;
        // Chunk 0 has different global cells in the two handles.
        let array = world.array::<f32, 1>("array", &Layout::new([16]).split([Split::Even(2)]))?;
        let swapped = array.reassigned(&[1, 0])?;
        for (chunk, other) in array.chunks().flat_map(|a| swapped.chunks().map(move |b| (a.clone(), b))) {
            let call = |from| both.call().write("a", chunk.at(0..5)).update("b", other.at(from..8)).run();
            if chunk.id() == other.id() {
                call(3)?;
                continue;
            }
            let text = call(3).unwrap_err().to_string();
            assert!(text.contains("`a` and `b` are both written and overlap"), "{text}");
            call(5)?;
        }
        report.compare("names_access_and_aliases");
        Ok(())
    });
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Particle {
    place: [f32; 2],
    mass: f32,
    id: u32,
}

#[test]
fn wrong_types_of_cells_are_reported() {
    support::ranks(&[1, 2], |world| {
        let mut report = Report::new(world);
        let layout = Layout::new([16]);
        let floats: LocalArray<f32, 1> = world.local_array("floats", &layout)?;
        let vectors: LocalArray<[f32; 2], 1> = world.local_array("vectors", &layout)?;
        let words: LocalArray<u32, 1> = world.local_array("words", &layout)?;
        let bytes: LocalArray<i8, 1> = world.local_array("bytes", &layout)?;
        let particles: LocalArray<Particle, 1> = world.local_array("particles", &layout)?;
        let cell = |ty: &str| {
            user_kernel(
                world,
                &format!(
                    "{ty}
@group(0) @binding(0) var<storage, read_write> x: array<T>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ if x_inside(x_position(id)) {{ _ = x[0]; }} }}"
                ),
            )
        };
        let float = cell("alias T = f32;")?;
        float.call().write("x", floats.all()).run()?;
        report.fails("words for floats", float.call().write("x", words.all()).run());
        report.fails("vectors for scalars", float.call().write("x", vectors.all()).run());
        report.fails("bytes for floats", float.call().write("x", bytes.all()).run());
        report.fails("records for floats", float.call().write("x", particles.all()).run());
        report.fails("scalars for vectors", cell("alias T = vec4<f32>;")?.call().write("x", floats.all()).run());
        report.fails("signed words for bytes", cell("alias T = i32;")?.call().write("x", bytes.all()).run());
        cell("struct T { place: vec2<f32>, mass: f32, id: u32 }")?.call().write("x", particles.all()).run()?;
        for (label, members) in [
            ("a member of another name", "place: vec2<f32>, weight: f32, id: u32"),
            ("a member of another type", "place: vec2<f32>, mass: f32, id: i32"),
            ("members in another order", "place: vec2<f32>, id: u32, mass: f32"),
            ("a member too few", "place: vec2<f32>, mass: f32"),
            ("a member too many", "place: vec2<f32>, mass: f32, id: u32, age: f32"),
            ("a member elsewhere", "place: vec2<f32>, @align(8) mass: f32, @align(8) id: u32"),
        ] {
            let other = cell(&format!("struct T {{ {members} }}"))?;
            report.fails(label, other.call().write("x", particles.all()).run());
        }
        report.compare("types_of_cells");
        Ok(())
    });
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Short {
    rate: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Wrong {
    rate: u32,
    steps: u32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Long {
    rate: f32,
    steps: u32,
    more: f32,
}

#[test]
fn invalid_parameters_are_reported() {
    support::ranks(&[1, 2], |world| {
        let mut report = Report::new(world);
        let text = "
struct Params { rate: f32, steps: u32 }
struct Other { rate: f32 }
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<uniform> other: Other;
@group(0) @binding(3) var<uniform> table: array<vec4<f32>, 3>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = x_position(id);
    if x_inside(p) { x_store(p, params.rate * f32(params.steps) + other.rate + table[1].x); }
}
";
        let kernel = user_kernel(world, text)?;
        let x: LocalArray<f32, 1> = world.local_array("x", &Layout::new([16]))?;
        let call = || kernel.call().write("x", x.all());
        let table = || call().param("table", [[1.0_f32; 4]; 3]);
        report.fails("none given", call().run());
        report.fails("one not given", table().param("params.rate", 2.0_f32).param("steps", 2_u32).run());
        report.fails("an unknown name", table().param("rtae", 2.0_f32).run());
        report.fails("a name in two structs", table().param("rate", 2.0_f32).run());
        report.fails("a wrong scalar", table().param("steps", -2_i32).run());
        report.fails("a vector for a scalar", table().param("steps", [2_u32; 2]).run());
        report.fails("too short an array", call().param("table", [[1.0_f32; 4]; 2]).run());
        report.fails("a scalar for an array", call().param("table", 1.0_f32).run());
        report.fails("given twice", table().param("steps", 2_u32).param("steps", 3_u32).run());
        report.fails("an unknown struct", table().params("parms", &Short { rate: 1.0 }).run());
        report.fails("a struct with too few members", table().params("params", &Short { rate: 1.0 }).run());
        report.fails("one with a wrong type", table().params("params", &Wrong { rate: 1, steps: 2 }).run());
        report.fails("one with too many", table().params("params", &Long { rate: 1.0, steps: 2, more: 0.0 }).run());
        report.compare("parameters");
        Ok(())
    });
}

/// Kernel of another device, for example of another world.
#[test]
fn memory_of_other_device_is_reported() {
    support::ranks(&[1, 2], |world| {
        let mut report = Report::new(world);
        let other: Rc<Device> = Device::open(&DeviceOptions::from_env(0, 1)?)?;
        let two = Kernel::new(&other, &KernelSource::text("shaders/user.wgsl", TWO))?;
        let x: LocalArray<f32, 1> = world.local_array("x", &Layout::new([16]))?;
        let y: LocalArray<f32, 1> = world.local_array("y", &Layout::new([16]))?;
        report.fails("a kernel of another device", two.call().read("a", x.all()).write("b", y.all()).run());
        report.compare("memory_of_another_device");
        Ok(())
    });
}
