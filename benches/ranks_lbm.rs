//! Steps of a flow beside what the adapter's memory lets them be: the scalar triad of as many bytes, and the same loads and
//! stores without arithmetic.

mod common;

use std::time::Instant;

use serde_json::json;
use zippy::{KernelSource, Layout, LocalArray, Result, World};
use zippy_lbm::{Cut, Flow, Problem, Side, Storage, VelocitySet};

use common::{Path, Run, Spread, contender, on_ranks};

/// Bytes of a step of a cell of D3Q19: 19 populations read and written, and what the cell is.
fn bytes(storage: Storage) -> u64 {
    match storage {
        Storage::Single => 153,
        Storage::Half => 77,
    }
}
/// Places along x of a dispatch over long vectors.
const ROW: u64 = 4096;

const TRIAD: &str = "
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> c: array<f32>;
@group(0) @binding(3) var<uniform> count: u32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.y * 4096u + id.x;
    if i < count { a[i] = b[i] + 0.5 * c[i]; }
}";

fn main() -> Result<()> {
    let about = "Steps of D3Q19 in a closed box, 64^3 and 128^3 cells a rank, in f32 and in 16 bits: million cell updates a second, beside the \
                 scalar triad (b + s c) of as many bytes and loads and stores of 19 slots in place without arithmetic; and of a \
                 square cavity of 128^2 cells on all ranks.";
    on_ranks("ranks_lbm", about, &[Path::Mapped, Path::Kernels], |run| {
        for n in [64, 128] {
            space(run, n, Storage::Single)?;
            space(run, n, Storage::Half)?;
        }
        plane(run)
    })
}

/// The triad of so many bytes.
fn triad<'w>(world: &'w World, bytes: u64) -> Result<impl FnMut() -> Result<()> + use<'w>> {
    // A vector is one binding: what does not fit is done again.
    let all = bytes / 12;
    let times = (4 * all).div_ceil(world.binding_bytes());
    let count = all / times;
    let layout = Layout::new([count as i64]);
    let arrays = ["a", "b", "c"].map(|name| world.local_array::<f32, 1>(name, &layout));
    let [a, b, c] = arrays;
    let (a, b, c): (LocalArray<f32, 1>, _, _) = (a?, b?, c?);
    let kernel = world.kernel(KernelSource::text("triad.wgsl", TRIAD))?;
    Ok(move || {
        for _ in 0..times {
            let call = kernel.call().write("a", a.all()).read("b", b.all()).read("c", c.all());
            call.param("count", count as u32).over([ROW, count.div_ceil(ROW)]).run()?;
        }
        world.gpu().wait().map_err(Into::into)
    })
}

/// Loads and stores of 19 slots in place for so many cells.
fn in_place<'w>(world: &'w World, cells: u64) -> Result<impl FnMut() -> Result<()> + use<'w>> {
    let times = (76 * cells).div_ceil(world.binding_bytes());
    let cells = cells / times;
    let loads: String = (0..19).map(|q| format!("        let g{q} = f[i + {q}u * count];\n")).collect();
    let stores: String = (0..19).map(|q| format!("        f[i + {q}u * count] = g{};\n", 18 - q)).collect();
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> f: array<f32>;
@group(0) @binding(1) var<uniform> count: u32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let i = id.y * 4096u + id.x;
    if i < count {{
{loads}{stores}    }}
}}"
    );
    let f = world.local_array::<f32, 1>("in place", &Layout::new([19 * cells as i64]))?;
    let kernel = world.kernel(KernelSource::text("in_place.wgsl", text))?;
    Ok(move || {
        for _ in 0..times {
            let call = kernel.call().update("f", f.all()).param("count", cells as u32);
            call.over([ROW, cells.div_ceil(ROW)]).run()?;
        }
        world.gpu().wait().map_err(Into::into)
    })
}

fn space(run: &Run, n: i64, storage: Storage) -> Result<()> {
    let kept = if storage == Storage::Half { "16-bit" } else { "f32" };
    let case = run.named(&format!("D3Q19 {kept}, {n}^3 a rank"));
    if !run.options.wants(&case) {
        return Ok(());
    }
    let world = run.world;
    let ranks = world.size() as i64;
    let wall = || Side::Wall;
    let problem = Problem::new(VelocitySet::D3Q19, [n, n, n * ranks])
        .sides(0, wall(), wall())
        .sides(1, wall(), Side::MovingWall([0.05, 0.0, 0.0]))
        .viscosity(0.05)
        .storage(storage);
    let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
    let bytes = bytes(storage);
    let cells = (n * n * n) as u64;
    let step = contender("step", || {
        flow.step()?;
        world.gpu().wait().map_err(Into::into)
    });
    let mut contenders =
        [step, contender("triad", triad(world, bytes * cells)?), contender("in place", in_place(world, cells)?)];
    let found = run.alternate(run.options.samples(), &mut contenders)?;
    let ratio =
        |other: &[f64]| Spread::of(&found[0].iter().zip(other).map(|(step, other)| other / step).collect::<Vec<_>>());
    let (secs, of_triad, of_access) = (Spread::of(&found[0]), ratio(&found[1]), ratio(&found[2]));
    if world.rank() == 0 {
        let mlups = (cells * world.size() as u64) as f64 / secs.median / 1e6;
        let rate = |secs: f64| (bytes * cells) as f64 * ranks as f64 / secs / 1e9;
        println!(
            "{case:<34} {mlups:.2} MLUPS, {:.2} GB/s, {:.2} of the triad ({:.2} to {:.2}; {:.2} GB/s), {:.2} of loads and \
             stores alone ({:.2} to {:.2})",
            rate(secs.median),
            of_triad.median,
            of_triad.low,
            of_triad.high,
            rate(Spread::of(&found[1]).median),
            of_access.median,
            of_access.low,
            of_access.high,
        );
        run.add(json!({
            "case": case,
            "mlups": mlups,
            "median_step_secs": secs.median,
            "quartiles_step_secs": [secs.low, secs.high],
            "of_triad": of_triad.median,
            "quartiles_of_triad": [of_triad.low, of_triad.high],
            "of_access": of_access.median,
            "quartiles_of_access": [of_access.low, of_access.high],
        }));
    }
    Ok(())
}

/// Bound by what goes between ranks.
fn plane(run: &Run) -> Result<()> {
    let case = run.named("cavity, 128^2 on all ranks");
    if !run.options.wants(&case) {
        return Ok(());
    }
    let world = run.world;
    let problem = Problem::new(VelocitySet::D2Q9, [128, 128, 1])
        .sides(0, Side::Wall, Side::Wall)
        .sides(1, Side::Wall, Side::MovingWall([0.1, 0.0, 0.0]))
        .viscosity(0.128);
    let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
    flow.run(20)?;
    let (mut secs, mut waiting, mut overhead) = (Vec::new(), 0.0, 0.0);
    for _ in 0..run.options.samples() {
        world.barrier()?;
        world.reset_profile();
        let start = Instant::now();
        flow.run(50)?;
        world.gpu().wait()?;
        let total = start.elapsed().as_secs_f64();
        let profile = world.profile();
        waiting += profile.wait_secs / total / run.options.samples() as f64;
        overhead += profile.overhead_secs() / total / run.options.samples() as f64;
        secs.push(total / 50.0);
    }
    let secs = Spread::of(&run.slowest(secs)?);
    let mut shares = [waiting, overhead];
    world.group().all_reduce(&mut shares, |sum, more| *sum += more)?;
    let [waiting, overhead] = shares.map(|share| share / world.size() as f64);
    if world.rank() == 0 {
        println!(
            "{case:<34} {:.0} steps/s ({:.0} to {:.0}); {:.0} % waiting, {:.0} % overhead",
            1.0 / secs.median,
            1.0 / secs.high,
            1.0 / secs.low,
            100.0 * waiting,
            100.0 * overhead
        );
        run.add(json!({
            "case": case,
            "steps_per_second": 1.0 / secs.median,
            "median_step_secs": secs.median,
            "quartiles_step_secs": [secs.low, secs.high],
            "waiting": waiting,
            "overhead": overhead,
        }));
    }
    Ok(())
}
