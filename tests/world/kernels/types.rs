//! Optional number formats: exact if the adapter supports them, else an error with the name of the
//! format. Also coordinates beyond 32 bits, which need no optional format.

use std::fmt::Debug;

use half::f16;
use zippy::extents::Index;
use zippy::kernel::Binding;
use zippy::region::Region;
use zippy::{Element, KernelSource, Layout, LocalArray, Result, World};

use crate::support;

fn text(cell: &str) -> String {
    let enable = if cell.contains("f16") { "enable f16;\n" } else { "" };
    format!(
        "{enable}@group(0) @binding(0) var<storage, read> a: array<{cell}>;
@group(0) @binding(1) var<storage, read_write> b: array<{cell}>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = b_position(id);
    if b_inside(p) {{ b_store(p, a_load(p - vec2<i32>(1, 0)) * a_load(p + vec2<i32>(0, 1)) - b_load(p)); }}
}}
"
    )
}

/// Checks the results, or the error, of a kernel on cells with the values `of(n)`.
fn check_format<T: Element + PartialEq + Debug>(
    world: &World,
    lacking: &str,
    of: impl Fn(i64) -> T,
    expected: impl Fn(T, T, T) -> T,
) -> Result<()> {
    let (device, cell) = (world.gpu(), T::INFO.name);
    let adapter = &device.adapter().name;
    let source = KernelSource::text("optional.wgsl", text(cell));
    let layout = Layout::new([13, 7]).ghost([1, 1]);
    if T::INFO.supported_by(device.features(), adapter).is_err() {
        let expected = format!("elements of type {cell} need {lacking} in shaders, which the adapter \"{adapter}\"");
        let error = world.local_array::<T, 2>("a", &layout).expect_err("no such cells").to_string();
        assert!(error.starts_with(&expected), "{error}");
        let error = world.array::<T, 2>("a", &layout).expect_err("no such cells").to_string();
        assert!(error.contains(&expected) || error.contains(lacking), "{error}");
        let error = world.kernel(source).expect_err("no such kernels").to_string();
        assert!(error.starts_with("optional.wgsl:1:"), "{error}");
        let note = format!("= the adapter \"{adapter}\" does not offer {lacking} in shaders");
        assert!(error.contains(&note), "{error}");
        return Ok(());
    }
    let a: LocalArray<T, 2> = world.local_array("a", &layout)?;
    let b: LocalArray<T, 2> = world.local_array("b", &layout)?;
    let storage = a.with_ghosts().region()?;
    let cells = storage.cells() as i64;
    a.with_ghosts().write(&(0..cells).map(&of).collect::<Vec<_>>())?;
    b.with_ghosts().write(&(0..cells).map(|n| of(n % 5)).collect::<Vec<_>>())?;
    world.kernel(source)?.call().read("a", a.all()).update("b", b.all()).run()?;
    for (n, (p, got)) in storage.points().zip(b.with_ghosts().read()?).enumerate() {
        let n = n as i64;
        let own = Region::new(&[0, 0], &[13, 7])?.contains(&p);
        assert_eq!(got, if own { expected(of(n - 1), of(n + 15), of(n % 5)) } else { of(n % 5) }, "{cell} at {p:?}");
    }
    Ok(())
}

#[test]
fn f64_kernel_is_exact_or_refused() {
    // More digits than an `f32` has, and products that are exact with and without contraction.
    support::ranks(&[1, 2], |world| {
        check_format(world, "64-bit floats", |n| (1 << 20) as f64 + n as f64 / 16.0, |a, b, c| a * b - c)
    });
}

#[test]
fn integer_64_bit_kernel_is_exact_or_refused() {
    support::ranks(&[1, 2], |world| {
        check_format(world, "64-bit integers", |n| (n - 50) << 33, |a, b, c| a.wrapping_mul(b).wrapping_sub(c))?;
        let of = |n: i64| 0xffff_fff1_0000_0000_u64.wrapping_mul(n as u64 * 2 + 1);
        check_format(world, "64-bit integers", of, |a, b, c| a.wrapping_mul(b).wrapping_sub(c))
    });
}

#[test]
fn f16_kernel_is_exact_or_refused() {
    support::ranks(&[1, 2], |world| {
        // Small integers, exact with and without contraction.
        check_format(
            world,
            "16-bit floats",
            |n| f16::from_f32((n % 17 - 8) as f32),
            |a, b, c| f16::from_f32(a.to_f32() * b.to_f32() - c.to_f32()),
        )
    });
}

/// Arrays with more than 2^32 cells along an axis, and more than 2^64 cells in total.
#[test]
fn coordinates_beyond_32_bits_are_exact() {
    support::ranks(&[1, 2], |world| {
        let text = "
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> linear: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> along: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> low: array<vec4<i32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = linear_position(id);
    if !linear_inside(p) { return; }
    let q = vec3<i32>(p, 1);
    linear_store(p, x_linear(q));
    along_store(p, vec4<u32>(x_global_axis(q, 0u), x_global_axis(q, 2u)));
    low_store(p, vec4<i32>(x_global(q), x_extent().x));
    if x_owned(q) { low_store(p, vec4<i32>(x_global(q), -1)); }
}
";
        let kernel = world.kernel(KernelSource::text("beyond.wgsl", text))?;
        let layout = Layout::new([4, 3]);
        let linear: LocalArray<[u32; 2], 2> = world.local_array("linear", &layout)?;
        let along: LocalArray<[u32; 4], 2> = world.local_array("along", &layout)?;
        let low: LocalArray<[i32; 4], 2> = world.local_array("low", &layout)?;
        for (start, shape) in [
            ([5_000_000_000, 0, 7], [1 << 33, 4, 10]),
            ([(1 << 32) - 2, (1 << 31) - 1, 1 << 40], [1 << 35, 1 << 33, 1 << 41]),
            ([-2, -1, (1 << 62) + 12_345], [1 << 20, 77, i64::MAX]),
        ] {
            let storage = Region::at(start.into(), [6, 3, 4].into());
            let owned = Region::at(Index::from(start) + [2, 1, 0].into(), [3, 2, 4].into());
            let held: LocalArray<u32, 1> = world.local_array("x", &Layout::new([6 * 3 * 4]))?;
            let mut x = Binding::from(held.all());
            (x.storage, x.owned, x.shape) = (storage, owned, shape.into());
            (x.section, x.label) = (Region::at(start.into(), [5, 3, 3].into()), "a far chunk".to_owned());
            kernel
                .call()
                .read("x", x)
                .write("linear", linear.all())
                .write("along", along.all())
                .write("low", low.all())
                .run()?;
            let cells = linear.all().read()?.into_iter().zip(along.all().read()?).zip(low.all().read()?);
            for (p, ((linear, along), low)) in linear.all().region()?.points().zip(cells) {
                let q = Index::from(start) + [p[0], p[1], 1].into();
                let index =
                    (0..3).rev().fold(0_u64, |sum, k| sum.wrapping_mul(shape[k] as u64).wrapping_add(q[k] as u64));
                let pair = |value: u64| [value as u32, (value >> 32) as u32];
                assert_eq!(linear, pair(index), "{q:?} in {shape:?}");
                assert_eq!(along, [pair(q[0] as u64), pair(q[2] as u64)].concat()[..], "{q:?}");
                let last = if owned.contains(&q) { -1 } else { 5 };
                assert_eq!(low, [q[0] as i32, q[1] as i32, q[2] as i32, last], "{q:?}");
            }
        }
        Ok(())
    });
}
