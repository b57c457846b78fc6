//! Validation of every shader of the library, and comparison with its twin in plain Rust: here, in
//! tests/device, in src/algorithms/reduce/reference_tests.rs and in `zippy-primitives`.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use zippy::device::colour;
use zippy::kernel::WgslComposer;
use zippy::{KernelSource, Layout, LocalArray, Split, World, include_wgsl};
use zippy_native::{CompiledKernel, Vectorization};

use crate::support;

/// Package of the shaders that move and combine boxes.
const DEVICE_PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/device");

/// Shaders of [`DEVICE_PACKAGE`] that are covered by the twin of another shader.
const COVERED_DEVICE_SHADERS: [(&str, &str); 6] = [
    ("combine", "../../tests/device/combine.rs"),
    // Iteration over boxes, covered by all tests of operations on boxes.
    ("jobs", "src/device/box_pair.rs"),
    ("move_small", "src/device/host_transfers/copy_cells.rs"),
    ("move_words", "src/device/host_transfers/copy_cells.rs"),
    ("packed_cells", "../../tests/device/combine.rs"),
    ("whole_cells", "../../tests/device/combine.rs"),
];

/// Shaders of this package that are covered by the twin of another shader.
const COVERED_SHADERS: [(&str, &str); 14] = [
    ("reduce/load/f16", "src/algorithms/reduce/reference_tests.rs"),
    ("reduce/load/i16", "src/algorithms/reduce/reference_tests.rs"),
    ("reduce/load/i8", "src/algorithms/reduce/reference_tests.rs"),
    ("reduce/load/length", "src/algorithms/reduce/lengths.rs"),
    ("reduce/load/u16", "src/algorithms/reduce/reference_tests.rs"),
    ("reduce/load/u8", "src/algorithms/reduce/reference_tests.rs"),
    ("reduce/load/word", "src/algorithms/reduce/reference_tests.rs"),
    ("reduce/order/float", "src/algorithms/reduce/reference_tests.rs"),
    ("reduce/order/signed", "src/algorithms/reduce/reference_tests.rs"),
    ("reduce/order/unsigned", "src/algorithms/reduce/reference_tests.rs"),
    ("reduce/size/float", "src/algorithms/reduce/lengths.rs"),
    ("reduce/size/signed", "src/algorithms/reduce/lengths.rs"),
    ("reduce/size/unsigned", "src/algorithms/reduce/lengths.rs"),
    ("reduce/walk", "src/algorithms/reduce/reference_tests.rs"),
];

/// Package of the data-parallel primitives. Declarations in its shaders are generated for element
/// types and operators. Its test `algorithms` compares the shaders with their twins: natively, and
/// by a driver if chunks are not mapped.
const PRIMITIVES_PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/primitives");

/// Shaders of [`PRIMITIVES_PACKAGE`] that are covered by the twin of another shader.
const COVERED_PRIMITIVE_SHADERS: [(&str, &str); 10] = [
    ("merge/places", "src/merge/host.rs"),
    ("scan/arrays", "src/scan/association.rs"),
    ("scan/exclusive", "src/scan/association.rs"),
    ("scan/inclusive", "src/scan/association.rs"),
    ("search/bound", "src/search/mod.rs"),
    ("select/flags", "src/select/host.rs"),
    ("sort/no_values", "src/host_pairs/mod.rs"),
    ("sort/place", "src/host_pairs/mod.rs"),
    ("sort/radix", "src/host_pairs/mod.rs"),
    ("sort/values", "src/host_pairs/mod.rs"),
];

fn compile_natively(name: &str, text: &str) {
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(text)));
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let info = validator.validate(&module).unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(text)));
    for point in module.entry_points.iter().filter(|point| point.stage == naga::ShaderStage::Compute) {
        let native = CompiledKernel::new(&module, &info, &point.name, text, Vectorization::Use);
        assert!(native.is_ok(), "{name}, {}: {}", point.name, native.unwrap_err());
    }
}

/// Complete kernels, with arrays bound by name.
const COMPLETE_KERNELS: [&str; 4] = ["add.wgsl", "diffuse.wgsl", "gray_scott.wgsl", "heat.wgsl"];

/// Directory of shaders that are parts of texts. A unit test of its module composes all texts.
const PARTS_DIRECTORY: &str = "reduce/";

#[test]
fn all_shaders_are_valid_and_compile_natively() {
    let files = support::shaders::files(env!("CARGO_MANIFEST_DIR"));
    support::ranks(&[1], |world| {
        for file in COMPLETE_KERNELS {
            world.kernel(KernelSource::text(file, files[file].as_str()))?;
        }
        Ok(())
    });
    // All other files must be complete shaders.
    let is_complete = |name: &str| !COMPLETE_KERNELS.contains(&name) && !name.starts_with(PARTS_DIRECTORY);
    files.iter().filter(|(name, _)| is_complete(name)).for_each(|(name, text)| compile_natively(name, text));
}

#[test]
fn all_shaders_have_twins() {
    let mut left = support::shaders::without_twin(env!("CARGO_MANIFEST_DIR"), &COVERED_SHADERS);
    left.extend(support::shaders::without_twin(DEVICE_PACKAGE, &COVERED_DEVICE_SHADERS));
    left.extend(support::shaders::without_twin(PRIMITIVES_PACKAGE, &COVERED_PRIMITIVE_SHADERS));
    assert!(left.is_empty(), "no twin in Rust has the name of {left:?}");
}

/// Numbers whose sums and products are exact in `f32`.
fn exact(n: i64) -> f32 {
    (n * 7919 % 4001 - 2000) as f32
}

#[test]
fn add() {
    support::ranks(support::RANKS, |world: &World| {
        let kernel = world.kernel(include_wgsl!("../../../shaders/add.wgsl"))?;
        let layout = Layout::new([19, 6, 8]).split([Split::Even(2), Split::Whole, Split::Even(world.size())]);
        let a0 = world.array::<f32, 3>("a0", &layout.clone().ghost([1, 0, 2]))?;
        let a1 = world.array::<f32, 3>("a1", &layout.ghost([0, 1, 1]))?;
        let of = |[x, y, z]: [i64; 3]| exact(x + 19 * y + 114 * z);
        a1.fill_with(of)?;
        for (b, a) in zippy::zip_chunks((&a0, &a1))? {
            let call = kernel.call().read("array1", a.at((.., 0, ..))).read("array2", a.at((.., 4, ..)));
            call.write("array0", b.at((.., 2, ..))).param("additional_num", -0.5_f32).run()?;
            let own = b.region();
            for (p, got) in own.points().zip(b.all().read()?) {
                let sum = of([p[0], 0, p[2]]) + of([p[0], 4, p[2]]) - 0.5;
                assert_eq!(got, if p[1] == 2 { sum } else { 0.0 }, "{p:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn diffuse() {
    support::ranks(support::RANKS, |world: &World| {
        let kernel = world.kernel(include_wgsl!("../../../shaders/diffuse.wgsl"))?;
        let shape = [23, 17];
        let layout = Layout::new(shape).split([Split::Even(world.size()), Split::Even(2)]).periodic([true, true]);
        let now = world.array::<f32, 2>("now", &layout.clone().ghost([1, 1]))?;
        let next = world.array::<f32, 2>("next", &layout.ghost([2, 0]))?;
        let of = |x: i64, y: i64| exact(x.rem_euclid(23) + 23 * y.rem_euclid(17));
        now.fill_with(|[x, y]| of(x, y))?;
        world.ghosts(&now)?;
        // An exact rate, and a rounded rate, for which a device may contract products and sums.
        for rate in [0.125_f32, 0.1] {
            for (a, b) in zippy::zip_chunks((&now, &next))? {
                kernel.call().read("now", a.all()).write("next", b.all()).param("rate", rate).run()?;
                for (p, got) in b.region().points().zip(b.all().read()?) {
                    let (x, y) = (p[0], p[1]);
                    let around = [of(x - 1, y), of(x + 1, y), of(x, y - 1), of(x, y + 1)];
                    let (centre, sum) = (f64::from(of(x, y)), around.iter().map(|&v| f64::from(v)).sum::<f64>());
                    let expected = centre + f64::from(rate) * (sum - 4.0 * centre);
                    // The differences are exact; a product and a sum are rounded, by half a unit of
                    // the larger one each.
                    let large = centre.abs() + f64::from(rate) * (sum - 4.0 * centre).abs();
                    let bound = if rate == 0.125 { 0.0 } else { large * f64::from(f32::EPSILON) };
                    assert!((f64::from(got) - expected).abs() <= bound, "{p:?} at {rate}: {got} for {expected}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn heat() {
    support::ranks(support::RANKS, |world: &World| {
        let kernel = world.kernel(include_wgsl!("../../../shaders/heat.wgsl"))?;
        let layout = Layout::new([13, 9, 7]).split_all(Split::Auto).periodic([true; 3]);
        let now = world.array::<f32, 3>("now", &layout.clone().ghost([1; 3]))?;
        let next = world.array::<f32, 3>("next", &layout)?;
        let of = |[x, y, z]: [i64; 3]| exact(x.rem_euclid(13) + 13 * y.rem_euclid(9) + 117 * z.rem_euclid(7));
        now.fill_with(of)?;
        world.ghosts(&now)?;
        for (a, b) in zippy::zip_chunks((&now, &next))? {
            kernel.call().read("now", a.all()).write("next", b.all()).run()?;
            for (p, got) in b.region().points().zip(b.all().read()?) {
                let [x, y, z] = [p[0], p[1], p[2]];
                let around = [[x - 1, y, z], [x + 1, y, z], [x, y - 1, z], [x, y + 1, z], [x, y, z - 1], [x, y, z + 1]];
                // The differences are exact; a product and a sum are rounded, by half a unit of the
                // larger one each.
                let centre = f64::from(of([x, y, z]));
                let change = f64::from(0.1_f32) * (around.map(|p| f64::from(of(p))).iter().sum::<f64>() - 6.0 * centre);
                let bound = (centre.abs() + change.abs()) * f64::from(f32::EPSILON);
                assert!((f64::from(got) - centre - change).abs() <= bound, "{p:?}: {got}");
            }
        }
        Ok(())
    });
}

#[test]
fn gray_scott() {
    const SHAPE: [i64; 2] = [21, 18];
    let [of_u, of_v] = [0.9_f32, 0.3].map(|scale| {
        move |x: i64, y: i64| {
            let [x, y] = [x.rem_euclid(SHAPE[0]), y.rem_euclid(SHAPE[1])];
            scale * ((x * 7 + y * 13) % 31) as f32 / 31.0
        }
    });
    support::ranks(support::RANKS, |world: &World| {
        let kernel = world.kernel(include_wgsl!("../../../shaders/gray_scott.wgsl"))?;
        let split = [Split::Even(world.size()), Split::Even(2)];
        let layout = Layout::new(SHAPE).split(split).ghost([1, 1]).periodic([true, true]);
        let [u, v, next_u, next_v] = ["u", "v", "next_u", "next_v"].map(|name| world.array::<f32, 2>(name, &layout));
        let [u, v, next_u, next_v] = [u?, v?, next_u?, next_v?];
        u.fill_with(|[x, y]| of_u(x, y))?;
        v.fill_with(|[x, y]| of_v(x, y))?;
        world.ghosts(&u)?;
        world.ghosts(&v)?;
        let (feed, kill) = (0.0367_f32, 0.0649_f32);
        for (u, v, next_u, next_v) in zippy::zip_chunks((&u, &v, &next_u, &next_v))? {
            let call = kernel.call().read("u", u.all()).read("v", v.all());
            let call = call.write("next_u", next_u.all()).write("next_v", next_v.all());
            call.param("feed", feed).param("kill", kill).run()?;
            let found = next_u.all().read()?.into_iter().zip(next_v.all().read()?);
            for (p, (got_u, got_v)) in next_u.region().points().zip(found) {
                let around = |of: &dyn Fn(i64, i64) -> f32| {
                    of(p[0] - 1, p[1]) + of(p[0] + 1, p[1]) + of(p[0], p[1] - 1) + of(p[0], p[1] + 1)
                };
                let (a, b) = (of_u(p[0], p[1]), of_v(p[0], p[1]));
                let reaction = a * b * b;
                let expected = [
                    a + 0.2 * (around(&of_u) - 4.0 * a) - reaction + feed * (1.0 - a),
                    b + 0.1 * (around(&of_v) - 4.0 * b) + reaction - (feed + kill) * b,
                ];
                // Other devices may contract products and sums.
                let bound = if world.gpu().is_native() { 0.0 } else { 1e-6 };
                let errors = [got_u - expected[0], got_v - expected[1]];
                assert!(errors.iter().all(|error| error.abs() <= bound), "{p:?}: {got_u}, {got_v} for {expected:?}");
            }
        }
        Ok(())
    });
}

/// Functions of `colour.wgsl` without an operator. tests/device/combine.rs compares the other
/// functions with their twins.
#[test]
fn colour() {
    let text = "
        @group(0) @binding(0) var<storage, read> floats: array<vec4<f32>>;
        @group(0) @binding(1) var<storage, read_write> words: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            let p = words_position(id);
            if words_inside(p) { words_store(p, to_rgba8(floats_load(p))); }
        }";
    // Includes values below 0 and above 1, and no ties between two bytes, which a contracted
    // product may decide.
    let part =
        |i: usize, c: usize| ((i * 37 + c * 101) % 300) as f32 / 255.0 - 26.0 / 255.0 + ((i + c) % 3) as f32 / 1500.0;
    let floats: Vec<[f32; 4]> = (0..900).map(|i| [0, 1, 2, 3].map(|c| part(i, c))).collect();
    support::ranks(&[1], |world: &World| {
        let text = WgslComposer::new().module(colour::WGSL).generated(text).compose()?;
        let kernel = world.kernel(KernelSource::text("colour.wgsl", text))?;
        let layout = Layout::new([floats.len() as i64]);
        let from = world.local_array::<[f32; 4], 1>("floats", &layout)?;
        let onto = world.local_array::<u32, 1>("words", &layout)?;
        from.all().write(&floats)?;
        kernel.call().read("floats", from.all()).write("words", onto.all()).run()?;
        let expected: Vec<u32> = floats.iter().map(|&floats| colour::to_rgba8(floats)).collect();
        assert_eq!(onto.all().read()?, expected);
        Ok(())
    });
}

/// The loop has fewer passes than the limit of some drivers.
#[test]
fn loop_canary() {
    support::ranks(&[1], |world: &World| {
        let kernel = world.kernel(include_wgsl!("../../../shaders/loop_canary.wgsl"))?;
        let words: LocalArray<u32, 1> = world.local_array("words", &Layout::new([3]))?;
        for wanted in [0, 1, 777, 60_000] {
            words.all().write(&[wanted, 0, 0])?;
            kernel.call().update("words", words.at(0)).run()?;
            let step = |state: u32, _| state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            assert_eq!(words.all().read()?, [wanted, wanted, (0..wanted).fold(1, step)]);
        }
        Ok(())
    });
}
