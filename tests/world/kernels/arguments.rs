//! Arguments of kernel calls: records, parameters by name and as structs, and sections that are
//! read, written or updated.

use zippy::{Element, KernelSource, Layout, LocalArray, Split};

use crate::support;

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Inner {
    axis: [f32; 3],
    weight: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Particle {
    place: [f32; 2],
    speed: [i32; 2],
    frame: Inner,
    id: u32,
    _a: u32,
    _b: [u32; 2],
}

const RECORDS: &str = "
struct Inner { axis: vec3<f32>, weight: f32 }
struct Particle { place: vec2<f32>, speed: vec2<i32>, frame: Inner, id: u32 }
@group(0) @binding(0) var<storage, read> old: array<Particle>;
@group(0) @binding(1) var<storage, read_write> next: array<Particle>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) { return; }
    // Loads the cell mirrored along axis 0, which is a ghost cell at the ends.
    var particle = old_load(vec2<i32>(next_extent().x - p.x, p.y));
    particle.place = particle.place.yx;
    particle.speed += vec2<i32>(1, -1);
    particle.frame.axis *= particle.frame.weight;
    particle.id ^= 0xffu;
    next_store(p, particle);
}
";

fn particle([x, y]: [i64; 2]) -> Particle {
    let (a, b) = (x as f32, y as f32);
    let frame = Inner { axis: [a, -b, a + b], weight: 0.25 };
    Particle { place: [a, b], speed: [x as i32, y as i32], frame, id: (100 * x + y) as u32, _a: 0, _b: [0; 2] }
}

#[test]
fn record_cells_are_read_and_updated() {
    support::ranks(support::RANKS, |world| {
        let kernel = world.kernel(KernelSource::text("records.wgsl", RECORDS))?;
        let layout =
            Layout::new([23, 5]).split([Split::Even(world.size()), Split::Whole]).ghost_sides([(0, 1), (0, 0)]);
        let old = world.array::<Particle, 2>("old", &layout.clone().periodic([true, false]))?;
        let new = world.array::<Particle, 2>("new", &layout)?;
        old.fill_with(particle)?;
        world.ghosts(&old)?;
        for (a, b) in zippy::zip_chunks((&old, &new))? {
            kernel.call().read("old", a.all()).write("next", b.all()).run()?;
            let own = b.region();
            for (p, got) in own.points().zip(b.all().read()?) {
                let x = own.end[0] - (p[0] - own.start[0]);
                let from = particle([x % 23, p[1]]);
                let [u, v] = from.place;
                let frame = Inner { axis: from.frame.axis.map(|c| c * 0.25), weight: 0.25 };
                let speed = [from.speed[0] + 1, from.speed[1] - 1];
                let expected = Particle { place: [v, u], speed, frame, id: from.id ^ 0xff, _a: 0, _b: [0; 2] };
                assert_eq!(got, expected, "{p:?}");
            }
        }
        Ok(())
    });
}

const PARAMETERS: &str = "
struct Light { place: vec3<f32>, on: u32 }
struct Params {
    rate: f32,
    steps: u32,
    corner: vec2<i32>,
    light: Light,
    turn: mat4x4<f32>,
    skew: mat2x2<f32>,
    table: array<vec4<u32>, 2>,
}
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@group(0) @binding(7) var<uniform> params: Params;
@group(2) @binding(3) var<uniform> offset: vec3<i32>;
@group(2) @binding(4) var<uniform> scale: f32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if x_position(id) != 0 { return; }
    var at = 0;
    let p = params;
    let floats = array<f32, 10>(p.rate, p.light.place.x, p.light.place.y, p.light.place.z, scale,
                                p.turn[0].x, p.turn[1].z, p.turn[3].w, p.skew[0].y, p.skew[1].x);
    for (var i = 0; i < 10; i++) { x_store(at, bitcast<u32>(floats[i])); at++; }
    let words = array<u32, 10>(p.steps, u32(p.corner.x), u32(p.corner.y), p.light.on, u32(offset.x), u32(offset.y),
                               u32(offset.z), p.table[0].x, p.table[1].z, p.table[1].w);
    for (var i = 0; i < 10; i++) { x_store(at, words[i]); at++; }
}
";

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Light {
    place: [f32; 3],
    on: u32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Scene {
    light: Light,
    corner: [i32; 2],
    steps: u32,
    rate: f32,
}

#[test]
fn parameters_are_passed_by_name_and_as_structs() {
    support::ranks(&[1, 2], |world| {
        let kernel = world.kernel(KernelSource::text("parameters.wgsl", PARAMETERS))?;
        let x: LocalArray<u32, 1> = world.local_array("x", &Layout::new([20]))?;
        let turn: [[f32; 4]; 4] = std::array::from_fn(|i| std::array::from_fn(|j| (10 * i + j) as f32 + 0.5));
        kernel
            .call()
            .update("x", x.all())
            .param("rate", -2.5_f32)
            .param("params.steps", 7_u32)
            .param("corner", [-1_i32, 9])
            .param("light.place", [1.0_f32, 2.0, 4.0])
            .param("light.on", 3_u32)
            .param("turn", turn)
            .param("skew", [[0.5_f32, 0.25], [0.125, 8.0]])
            .param("table", &[[11_u32, 12, 13, 14], [21, 22, 23, 24]][..])
            .param("offset", [-5_i32, 6, i32::MIN])
            .param("scale", f32::MIN_POSITIVE)
            .run()?;
        let floats = [-2.5, 1.0, 2.0, 4.0, f32::MIN_POSITIVE, 0.5, 12.5, 33.5, 0.25, 0.125].map(f32::to_bits);
        let words = [7, u32::MAX, 9, 3, -5_i32 as u32, 6, 1 << 31, 11, 23, 24];
        assert_eq!(x.all().read()?, [floats, words].concat());
        Ok(())
    });
}

/// A Rust struct may have its members in another order. A parameter that is also given by name has
/// precedence.
#[test]
fn parameter_by_name_replaces_member_of_struct() {
    support::ranks(&[1, 2], |world| {
        let text = "
struct Light { place: vec3<f32>, on: u32 }
struct Scene { rate: f32, steps: u32, light: Light, corner: vec2<i32>, _spare: vec2<f32> }
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<uniform> scene: Scene;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = x_position(id);
    let corner = vec2<f32>(scene.corner);
    let all = array<f32, 8>(scene.rate, f32(scene.steps), scene.light.place.x, scene.light.place.y,
                            scene.light.place.z, f32(scene.light.on), corner.x, corner.y);
    if x_inside(p) { x_store(p, all[p]); }
}
";
        let kernel = world.kernel(KernelSource::text("scene.wgsl", text))?;
        let x: LocalArray<f32, 1> = world.local_array("x", &Layout::new([8]))?;
        let light = Light { place: [3.0, 5.0, 7.0], on: 11 };
        let scene = Scene { light, corner: [13, -17], steps: 19, rate: 0.5 };
        kernel.call().write("x", x.all()).params("scene", &scene).run()?;
        assert_eq!(x.all().read()?, [0.5, 19.0, 3.0, 5.0, 7.0, 11.0, 13.0, -17.0]);
        kernel.call().write("x", x.all()).param("steps", 23_u32).params("scene", &scene).run()?;
        assert_eq!(x.all().read()?, [0.5, 23.0, 3.0, 5.0, 7.0, 11.0, 13.0, -17.0]);
        Ok(())
    });
}

/// Arrays with different numbers of axes in one call, one of them updated; and an entry point that
/// uses only some of them.
#[test]
fn entry_points_use_arrays_of_different_axes() {
    support::ranks(&[1, 3], |world| {
        let text = "
@group(0) @binding(0) var<storage, read> volume: array<i32>;
@group(0) @binding(1) var<storage, read> row: array<i32>;
@group(1) @binding(0) var<storage, read_write> image: array<i32>;
@group(1) @binding(1) var<storage, read_write> total: array<atomic<i32>>;
@compute @workgroup_size(8, 8)
fn project(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = image_position(id);
    if !image_inside(p) { return; }
    var sum = image_load(p);
    for (var z = 0; z < volume_extent().z; z++) { sum += volume_load(vec3<i32>(p, z)); }
    image_store(p, sum * row_load(p.x));
}
@compute @workgroup_size(64)
fn add(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = image_position(id);
    if image_inside(p) { atomicAdd(&total[total_index(0)], image_load(p)); }
}
";
        let kernel = world.kernel(KernelSource::text("project.wgsl", text))?;
        let volume: LocalArray<i32, 3> = world.local_array("volume", &Layout::new([9, 6, 4]).ghost([1, 0, 2]))?;
        let row: LocalArray<i32, 1> = world.local_array("row", &Layout::new([20]))?;
        let image: LocalArray<i32, 2> = world.local_array("image", &Layout::new([9, 6]).ghost([0, 3]))?;
        let total: LocalArray<i32, 1> = world.local_array("total", &Layout::new([3]))?;
        let at = |x: i64, y: i64, z: i64| (x + 20 * y + 300 * z) as i32;
        volume.all().write(&volume.all().region()?.points().map(|p| at(p[0], p[1], p[2])).collect::<Vec<_>>())?;
        row.all().write(&(0..20).map(|x| 2 * x + 1).collect::<Vec<_>>())?;
        image.all().write(&[1000; 54])?;
        let project = kernel.entry("project")?;
        let section = image.at((2..9, 1..6));
        project
            .call()
            .read("volume", volume.at((2..9, 1..6, 1..4)))
            .read("row", row.at(5..12))
            .update("image", &section)
            .run()?;
        let mut sum = 0;
        for (p, got) in image.all().region()?.points().zip(image.all().read()?) {
            let (x, y) = (p[0], p[1]);
            let cells: i32 = (1..4).map(|z| at(x, y, z)).sum();
            let expected = if x >= 2 && y >= 1 { (1000 + cells) * (2 * (x - 2 + 5) + 1) as i32 } else { 1000 };
            assert_eq!(got, expected, "{p:?}");
            sum += if x >= 2 && y >= 1 { expected } else { 0 };
        }
        kernel.entry("add")?.call().update("image", &section).update("total", total.at(1..3)).run()?;
        assert_eq!(total.all().read()?, [0, sum, 0]);
        Ok(())
    });
}
