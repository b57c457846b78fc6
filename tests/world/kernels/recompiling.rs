//! A software driver compiles a kernel once for all parameters and geometries.

use zippy::{KernelSource, Layout, Result, Split, World};

use crate::support;

/// Typical kernel: two fields with six neighbours each, and the sum of all results in one cell.
const REACTION: &str = "
@group(0) @binding(0) var<storage, read> u: array<f32>;
@group(0) @binding(1) var<storage, read> v: array<f32>;
@group(0) @binding(2) var<storage, read_write> u_next: array<f32>;
@group(0) @binding(3) var<storage, read_write> v_next: array<f32>;
@group(0) @binding(4) var<storage, read_write> corner: array<f32>;
@group(0) @binding(5) var<uniform> feed: f32;

const X = vec3<i32>(1, 0, 0);
const Y = vec3<i32>(0, 1, 0);
const Z = vec3<i32>(0, 0, 1);

@compute @workgroup_size(8, 4, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = u_next_position(id);
    if !u_next_inside(p) { return; }
    let around_u = u_load(p - X) + u_load(p + X) + u_load(p - Y) + u_load(p + Y) + u_load(p - Z) + u_load(p + Z);
    let around_v = v_load(p - X) + v_load(p + X) + v_load(p - Y) + v_load(p + Y) + v_load(p - Z) + v_load(p + Z);
    let a = u_load(p);
    let b = v_load(p);
    let reaction = a * b * b;
    u_next_store(p, a + 0.125 * (around_u - 6.0 * a) - reaction + feed * (1.0 - a));
    v_next_store(p, b + 0.0625 * (around_v - 6.0 * b) + reaction - (feed + 0.0625) * b);
    if all(p == vec3<i32>(0)) { corner_store(vec3<i32>(0), corner_load(vec3<i32>(0)) + a); }
}
";

/// Mapped bytes of this process; `None` if the operating system does not report them.
fn mapped_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split(' ').next()?.parse::<u64>().ok()? * 4096)
}

/// Calls a kernel of ordinary size with a thousand geometries, each different from the previous
/// one.
fn call_thousand_times(world: &World) -> Result<()> {
    let layout = Layout::new([14, 12, 11]).split_all(Split::Whole).ghost([1, 1, 1]);
    let field = |name| world.array::<f32, 3>(name, &layout);
    let (u, v, u_next, v_next) = (field("u")?, field("v")?, field("u next")?, field("v next")?);
    let corner = world.local_array::<f32, 3>("corner", &Layout::new([1, 1, 1]))?;
    u.fill_with(|[x, y, z]| 1.0 - 0.01 * (x + y * z) as f32)?;
    v.fill_with(|[x, y, z]| 0.01 * (x * y + z) as f32)?;
    corner.all().fill(0.0)?;
    let kernel = world.kernel(KernelSource::text("reaction.wgsl", REACTION))?;
    let (u, v, u_next, v_next) = (u.local()?, v.local()?, u_next.local()?, v_next.local()?);
    let (mut settled, mut sum) = (None, 0.0);
    for call in 0..1000 {
        let [x, y, z] = [call % 5, call % 4, call % 3];
        let part = [x..x + 3 + call % 7, y..y + 2 + call % 6, z..z + 2 + call % 5];
        let run = kernel.call().read("u", u.at(part.clone())).read("v", v.at(part.clone()));
        let run = run.write("u_next", u_next.at(part.clone())).write("v_next", v_next.at(part));
        run.update("corner", corner.all()).param("feed", call as f32 / 1024.0).run()?;
        sum += 1.0 - 0.01 * (x + y * z) as f32;
        if call % 50 == 49 {
            assert_eq!(corner.all().read()?, [sum], "after {call} calls");
            settled = settled.or_else(mapped_bytes);
        }
    }
    if let (Some(settled), Some(end)) = (settled, mapped_bytes()) {
        let left = end.saturating_sub(settled) >> 10;
        assert!(left < 16 << 10, "950 calls have left {left} KiB mapped");
    }
    Ok(())
}

/// Runs with plain helpers, with the helpers of a checked run, and with chunks of several windows.
///
/// Each run is a separate process, because other tests map memory, and uses one arena of the
/// allocator, because glibc reserves 64 MiB for each additional arena.
#[test]
fn thousand_geometries_leave_no_memory_mapped() {
    for setting in [None, Some(("ZIPPY_CHECK", "1")), Some(("ZIPPY_BINDING_LIMIT", "4096"))] {
        let settings: Vec<_> = setting.into_iter().chain([("MALLOC_ARENA_MAX", "1")]).collect();
        support::alone("world::kernels::recompiling::thousand_calls", &settings);
    }
}

#[test]
fn thousand_calls() {
    if support::is_alone() {
        support::ranks(&[1], call_thousand_times);
    }
}

/// Cargo sets the variable inside this project; the program of a bundle runs without Cargo.
#[test]
fn kernel_that_branches_on_a_parameter_alone_is_refused_in_this_project() {
    if std::env::var_os("ZIPPY_REFUSE_PARAMETER_BRANCHES").is_none() {
        return;
    }
    support::ranks(&[1, 3], |world| {
        let text = "@group(0) @binding(0) var<storage, read_write> x: array<f32>;
            @group(0) @binding(1) var<uniform> rate: f32;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                let p = domain_position(id);
                if !domain_inside(p) { return; }
                if rate > 1.0 { x_store(p, 1.0); }
            }";
        let error = world.kernel(KernelSource::text("rate.wgsl", text)).unwrap_err().to_string();
        assert!(error.contains("parameters alone decide `rate > 1.0` in main, line 6"), "{error}");
        Ok(())
    });
}
