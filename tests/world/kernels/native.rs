//! Native kernels: bits independent of the number of threads and of the driver, endless loops, and
//! kernels that need a driver.

use std::time::Duration;

use zippy::{Config, KernelSource, Layout, Result, Split, World, run_with};

use crate::support::{self, launcher};

/// Computes the bits of a field after some steps of a kernel with functions, branches and integers.
fn field_bits(world: &World) -> Result<u64> {
    const TEXT: &str = "
@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;
@compute @workgroup_size(16, 4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) { return; }
    let x = vec2<i32>(1, 0);
    let y = vec2<i32>(0, 1);
    let around = now_load(p - x) + now_load(p + x) + now_load(p - y) + now_load(p + y);
    var value = 0.3 * now_load(p) + 0.17 * around;
    // Branches depend on the values only, because positions depend on the layout.
    let bits = bitcast<u32>(value);
    if bits % 5u == 2u { value = sin(value) + exp2(-value); }
    for (var i = 0u; i < bits % 3u; i++) { value = value * 1.1 - 0.05; }
    next_store(p, value);
}";
    let layout = Layout::new([67, 45]).split_all(Split::Auto).ghost([1, 1]).periodic([true, true]);
    let mut now = world.array::<f32, 2>("now", &layout)?;
    let mut next = world.array::<f32, 2>("next", &layout)?;
    now.fill_with(|[x, y]| (x * 31 + y * 17) as f32 * 0.01)?;
    let kernel = world.kernel(KernelSource::text("steps.wgsl", TEXT))?;
    for _ in 0..9 {
        world.ghosts(&now)?;
        for (a, b) in zippy::zip_chunks((&now, &next))? {
            kernel.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        std::mem::swap(&mut now, &mut next);
    }
    let all = world.get(now.at((.., ..)))?;
    let cells = world.fence()?.redeem(all)?;
    let mix = |sum: u64, cell: &f32| sum.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7) ^ u64::from(cell.to_bits());
    Ok(cells.iter().fold(0, mix))
}

/// Hash of the result of [`field_bits`] on every processor.
const EXPECTED_HASH: u64 = 0xb14d_1a3c_93d5_b00e;

fn check_hash() {
    for ranks in launcher::counts(&[1, 2, 3, 5]) {
        let hashes =
            run_with(Config::threads(ranks), |world| Ok((world.gpu().is_native(), field_bits(world)?))).unwrap();
        assert!(
            hashes.iter().all(|(is_native, hash)| !is_native || *hash == EXPECTED_HASH),
            "{ranks} ranks: {hashes:x?}"
        );
    }
}

#[test]
fn cells_have_the_same_bits_on_every_processor() {
    check_hash();
}

zippy_testing::with_variables! {
    one_thread, [("ZIPPY_THREADS", "1")], check_hash
}

zippy_testing::with_variables! {
    three_threads, [("ZIPPY_THREADS", "3")], check_hash
}

zippy_testing::with_variables! {
    no_driver_at_all, [
        ("VK_ICD_FILENAMES", "/nonexistent"), ("VK_DRIVER_FILES", "/nonexistent"), ("ZIPPY_HOST_MAP", "1"),
    ], || {
        let ranks = launcher::counts(&[1, 3])[0];
        let found = run_with(Config::threads(ranks), |world| Ok((world.gpu().has_driver(), world.gpu().is_native())));
        assert!(found.unwrap().iter().all(|found| *found == (false, true)));
        check_hash();
    }
}

const ENDLESS: &str = "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var n = 0u;
    while x_load(0) < 7u {
        n += 1u;
    }
    x_store(0, n);
}";

/// A single rank, and a rank that other ranks wait for.
#[test]
fn endless_loop_is_stopped_at_timeout() {
    for ranks in launcher::counts(&[1, 3]) {
        let result = run_with(Config::threads(ranks).timeout(Duration::from_secs(2)), |world| {
            let x = world.local_array::<u32, 1>("x", &Layout::new([1]))?;
            let kernel = world.kernel(KernelSource::text("endless.wgsl", ENDLESS))?;
            if world.gpu().is_native() && world.rank() == 0 {
                kernel.call().update("x", x.all()).run()?;
            }
            world.barrier()?;
            Ok(world.gpu().is_native())
        });
        match result {
            Ok(native) => assert_eq!(native, vec![false; native.len()]),
            Err(error) => {
                let text = error.to_string();
                let parts = ["kernel endless.wgsl has run for 1.8 s", "the loop at line 5"];
                assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            }
        }
    }
}

#[test]
fn native_loop_has_no_pass_limit() {
    const TEXT: &str = "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var n = 0u;
    for (var i = 0u; i < 1000000u; i++) { n += i % 7u; }
    x_store(0, n);
}";
    run_with(Config::threads(1), |world| {
        let x = world.local_array::<u32, 1>("x", &Layout::new([1]))?;
        let kernel = world.kernel(KernelSource::text("long.wgsl", TEXT))?;
        if world.gpu().is_native() {
            kernel.call().update("x", x.all()).run()?;
            assert_eq!(x.all().read()?, [(0..1_000_000_u32).map(|i| i % 7).sum::<u32>()]);
        }
        Ok(())
    })
    .unwrap();
}

/// Checks a stencil by a kernel that prefers the driver, on chunks larger than a binding.
fn check_preference(is_native: bool) {
    let text = "
@group(0) @binding(0) var<storage, read> now: array<u32>;
@group(0) @binding(1) var<storage, read_write> next: array<u32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if !next_inside(p) { return; }
    next_store(p, now_load(p - vec2<i32>(1, 0)) + 3u * now_load(p + vec2<i32>(0, 1)));
}";
    support::ranks(&[1, 3], |world| {
        let layout = Layout::new([70, 60]).split_all(Split::Auto).ghost([1, 1]).periodic([true, true]);
        let [now, next] = ["now", "next"].map(|name| world.array::<u32, 2>(name, &layout));
        let (now, next) = (now?, next?);
        let value = |x: i64, y: i64| (x * 1000 + y) as u32;
        now.fill_with(|[x, y]| value(x, y))?;
        world.ghosts(&now)?;
        let kernel = world.kernel(KernelSource::text("preference.wgsl", text).prefer_driver(true))?;
        assert_eq!(kernel.is_native(), is_native && world.gpu().is_native());
        for (a, b) in zippy::zip_chunks((&now, &next))? {
            kernel.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        let all = world.get(next.at((.., ..)))?;
        let cells = world.fence()?.redeem(all)?;
        let expected = |i: i64| value((i % 70 + 69) % 70, i / 70) + 3 * value(i % 70, (i / 70 + 1) % 60);
        assert!(cells.iter().zip(0..).all(|(cell, i)| *cell == expected(i)));
        Ok(())
    });
}

zippy_testing::with_variables! {
    preferred_driver_sees_chunks_of_several_bindings_by_driver, [("ZIPPY_BINDING_LIMIT", "4096")], || check_preference(false)
}

zippy_testing::with_variables! {
    preferred_driver_is_not_there, [
        ("VK_ICD_FILENAMES", "/nonexistent"), ("VK_DRIVER_FILES", "/nonexistent"), ("ZIPPY_HOST_MAP", "1"),
    ], || check_preference(true)
}

/// Checks a kernel with large arrays in a function and its caller, on the stack of a rank's thread.
fn check_large_arrays() {
    let text = |length: usize| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> x: array<f32>;
var<private> kept: array<f32, {length}>;
fn inner(i: u32) -> f32 {{
    var own: array<f32, {length}>;
    own[i * 3u] = 2.0;
    return own[i * 3u] + kept[i * 2u];
}}
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = x_position(id);
    if !x_inside(p) {{ return; }}
    kept[id.x * 2u] = x_load(p);
    x_store(p, inner(id.x));
}}"
        )
    };
    for check in [false, true] {
        for length in [4_000_000, 5_000_000] {
            let result = run_with(Config::apart(1).check(check), |world| {
                let x = world.local_array::<f32, 1>("x", &Layout::new([6]))?;
                x.all().fill_with(|[x]| x as f32)?;
                let kernel = world.kernel(KernelSource::text("large.wgsl", text(length)))?;
                kernel.call().update("x", x.all()).run()?;
                x.all().read()
            });
            match result {
                Ok(found) => {
                    assert_eq!(length, 4_000_000);
                    assert_eq!(found, [[2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]);
                }
                Err(error) => {
                    assert_eq!(length, 5_000_000, "{error}");
                    let text = error.to_string();
                    let parts = ["large.wgsl", "320000000 bytes; 268435456 is the limit: use smaller arrays"];
                    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
                }
            }
        }
    }
}

zippy_testing::with_variables! {
    large_arrays_run_up_to_the_limit, [
        ("VK_ICD_FILENAMES", "/nonexistent"), ("VK_DRIVER_FILES", "/nonexistent"), ("ZIPPY_HOST_MAP", "1"),
    ], check_large_arrays
}
