//! Steps of a lattice Boltzmann flow, compared with limits of the adapter's memory: the scalar
//! triad of the same number of bytes, and the same loads and stores without arithmetic. Steps of a
//! program on global arrays, compared with hand-written wgpu.

mod common;
mod reference;

use std::cell::RefCell;
use std::time::Instant;

use serde_json::json;
use zippy::{Exchange, KernelSource, Layout, LocalArray, Result, Split, World};
use zippy_lbm::{Cut, Flow, Precision, Problem, Side, VelocitySet};

use common::{ChunkAccess, Run, Spread, contender, on_ranks};
use reference::device::read;
use reference::halo::grid;
use reference::lattice::{HandWrittenLattice, LatticePlan, SET, body};

/// Bytes of a D3Q19 cell update: 19 populations read and written, and one byte for the cell type.
fn bytes(precision: Precision) -> u64 {
    match precision {
        Precision::Single => 153,
        Precision::Half => 77,
    }
}
/// Invocations along x of a dispatch over a long vector.
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

pub(crate) fn main() -> Result<()> {
    let about = "Steps of D3Q19 in a closed box with 64^3 and 128^3 cells per rank, in f32 and in 16 bits: million cell \
                 updates per second, compared with the scalar triad (b + s c) of the same number of bytes and with loads \
                 and stores of 19 slots in place without arithmetic. Steps of a square cavity of 128^2 cells on all \
                 ranks. Cost of walls and bodies. Steps of D3Q19 with two copies on global arrays, compared with \
                 hand-written wgpu (benches/reference/lattice.rs).";
    on_ranks("ranks_lbm", about, &[ChunkAccess::Mapped, ChunkAccess::Kernels], |run| {
        let growth = run.growth(76 * 128 * 128 * 128, 3);
        for n in [64 * growth, 128 * growth] {
            space(run, n, Precision::Single)?;
            space(run, n, Precision::Half)?;
        }
        boundaries(run)?;
        two_copies(run)?;
        plane(run)
    })
}

fn triad<'w>(world: &'w World, bytes: u64) -> Result<impl FnMut() -> Result<()> + use<'w>> {
    // A vector is limited to one binding, so that a large triad is repeated on a smaller vector.
    let all = bytes / 12;
    let times = (4 * all).div_ceil(world.limits().binding_bytes);
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

/// Loads and stores 19 slots of `cells` cells in place.
fn in_place<'w>(world: &'w World, cells: u64) -> Result<impl FnMut() -> Result<()> + use<'w>> {
    let times = (76 * cells).div_ceil(world.limits().binding_bytes);
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

fn space(run: &Run<'_>, n: i64, precision: Precision) -> Result<()> {
    let kept = if precision == Precision::Half { "16-bit" } else { "f32" };
    let case = run.named(&format!("D3Q19 {kept}, {n}^3 a rank"));
    if !run.options.selects(&case) {
        return Ok(());
    }
    let world = run.world;
    let ranks = world.size() as i64;
    let wall = || Side::Wall;
    let problem = Problem::new(VelocitySet::D3Q19, [n, n, n * ranks])
        .sides(0, wall(), wall())
        .sides(1, wall(), Side::MovingWall([0.05, 0.0, 0.0]))
        .viscosity(0.05)
        .precision(precision);
    let mut flow = Flow::new(world, &problem, &Cut::Auto)?;
    let bytes = bytes(precision);
    let cells = (n * n * n) as u64;
    // With 16-bit storage, two cells share a word.
    let words = if precision == Precision::Half { cells / 2 } else { cells };
    let step = contender("step", || {
        flow.step()?;
        world.gpu().wait().map_err(Into::into)
    });
    let mut contenders =
        [step, contender("triad", triad(world, bytes * cells)?), contender("in place", in_place(world, words)?)];
    let found = run.alternate(run.options.samples(), &mut contenders)?;
    let job = run.cpu_secs(&mut contenders[0])?.map(|secs| secs.job / (cells * world.size() as u64) as f64);
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
        if let Some(secs) = job {
            println!("    {:.1} ns of CPU time a cell update", 1e9 * secs);
        }
        run.add(json!({
            "case": case,
            "bytes_per_rank": bytes * cells,
            "mlups": mlups,
            "cpu_secs_per_update": job,
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

/// Compares steps with walls and bodies with steps of the same number of cells without.
fn boundaries(run: &Run<'_>) -> Result<()> {
    let world = run.world;
    let n = 64 * run.growth(76 * 128 * 128 * 128, 3);
    let cells = n * n * n * world.size() as i64;
    let periodic_box = || Problem::new(VelocitySet::D3Q19, [n, n, n * world.size() as i64]).viscosity(0.05);
    let closed = |problem: Problem| {
        let problem = problem.sides(0, Side::Wall, Side::Wall).sides(2, Side::FreeSlip, Side::FreeSlip);
        problem.sides(1, Side::Wall, Side::MovingWall([0.05, 0.0, 0.0]))
    };
    let inflow = Side::Velocity(std::rc::Rc::new(|_| [0.05, 0.0, 0.0]));
    let stream = periodic_box().sides(0, inflow, Side::Outlet(1.0)).sides(1, Side::FreeSlip, Side::FreeSlip);
    let center = [n * 5 / 16, n / 2, n / 2];
    let ball = move |cell: [i64; 3]| {
        let offsets: [i64; 3] = std::array::from_fn(|axis| cell[axis] - center[axis]);
        offsets.iter().map(|offset| offset.pow(2)).sum::<i64>() < (n * 5 / 32).pow(2)
    };
    let flow = |name, problem: Problem| Flow::new(world, &problem.name(name), &Cut::Auto);
    let stream = stream.body(center.map(|at| at as f64), ball);
    let mut flows =
        [flow("closed", closed(periodic_box()))?, flow("periodic", periodic_box())?, flow("stream", stream)?];
    let [closed, periodic, stream] = &mut flows;
    let bytes = bytes(Precision::Single) * (cells as u64) / world.size() as u64;
    // Each flow takes turns with the periodic box.
    let mut against = |case: &str, flow: &mut Flow<'_>| {
        let contenders = vec![contender("with them", || flow.step()), contender("periodic", || periodic.step())];
        run.compare(case, bytes, Some(1.4), contenders)
    };
    against(&format!("walls, a lid and mirrors, {n}^3 a rank"), closed)?;
    against(&format!("inlet, outlet, mirrors and a sphere, {n}^3 a rank"), stream)
}

fn two_copies(run: &Run<'_>) -> Result<()> {
    // The host computes the initial fields of both programs.
    let n = 64 * run.growth(76 * 128 * 128 * 128, 3).min(2);
    let case = format!("D3Q19, two copies, {n}^3 a rank");
    if !run.options.selects(&run.named(&case)) {
        return Ok(());
    }
    let world = run.world;
    let ranks = grid(world.size());
    let [a, b, c] = ranks.map(Split::Even);
    let shape = ranks.map(|ranks| ranks as i64 * n);
    let layout = Layout::new([shape[0], shape[1], shape[2], 19]).split([a, b, c, Split::Whole]);
    let layout = layout.ghost([1, 1, 1, 0]).periodic([true, true, true, false]);
    let copies = [world.array::<f32, 4>("now", &layout)?, world.array::<f32, 4>("next", &layout)?];
    let value = |[x, y, z]: [i64; 3], q: usize| {
        let noise = (x * 7 + y * 13 + z * 29 + q as i64 * 5) % 31;
        (SET.weight(q) * (1.0 + 1e-3 * noise as f64)) as f32
    };
    copies[0].fill_with(|[x, y, z, q]| value([x, y, z], q as usize))?;
    let text = format!(
        "@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = domain_position(id);
    if !domain_inside(p) {{ return; }}
    let zero = i32(next_index(vec4<i32>(0, 0, 0, 0)));
    let along_y = i32(next_index(vec4<i32>(0, 1, 0, 0))) - zero;
    let along_z = i32(next_index(vec4<i32>(0, 0, 1, 0))) - zero;
    let slot = i32(next_index(vec4<i32>(0, 0, 0, 1))) - zero;
    let at = zero + p.x + p.y * along_y + p.z * along_z;
{}}}",
        body()
    );
    let kernel = world.kernel(KernelSource::text("two_copies.wgsl", text))?;
    // Populations that arrive from the neighbour in `direction` have the opposite velocity.
    let crossing = |direction: &[i8]| {
        let velocity = [direction[0], direction[1], direction[2]].map(|c| -i64::from(c));
        let crosses = |&q: &usize| (0..3).all(|axis| velocity[axis] == 0 || velocity[axis] == SET.velocity(q)[axis]);
        (0..19).filter(crosses).collect::<Vec<_>>()
    };
    let copies = RefCell::new(copies);
    let compute = || -> Result<()> {
        let mut copies = copies.borrow_mut();
        let (now, next) = (copies[0].local()?, copies[1].local()?);
        kernel.call().read("now", now.all()).write("next", next.all()).over([n as u64; 3]).run()?;
        copies.swap(0, 1);
        Ok(())
    };
    let step = || -> Result<()> {
        world.exchange(Exchange::new().ghosts(&copies.borrow()[0]).components(3, crossing))?;
        compute()
    };
    let plan = LatticePlan::new(world.rank(), ranks, n as usize);
    let at = [world.rank() % ranks[0], world.rank() / ranks[0] % ranks[1], world.rank() / ranks[0] / ranks[1]];
    let field = plan.field(|cell, q| value(std::array::from_fn(|axis| cell[axis] as i64 + at[axis] as i64 * n), q));
    let gpu = world.gpu();
    let mut by_hand = HandWrittenLattice::new(gpu.raw(), gpu.queue(), &plan, &field);
    for _ in 0..3 {
        step()?;
        by_hand.step(world.group())?;
    }
    let found = read(gpu.raw(), gpu.queue(), &by_hand.copies[by_hand.now].chunk);
    assert!(copies.borrow()[0].local()?.all().read()? == plan.cells(&found), "both programs compute the same cells");
    let by_hand = RefCell::new(by_hand);
    let contenders = vec![
        contender("zippy", step),
        contender("by hand with wgpu", || by_hand.borrow_mut().step(world.group())),
        contender("zippy, without the exchange", compute),
        contender("by hand, without the exchange", || {
            by_hand.borrow_mut().compute();
            Ok(())
        }),
    ];
    run.compare(&case, 152 * (n * n * n) as u64, Some(1.0), contenders)
}

/// Messages between ranks dominate the time.
fn plane(run: &Run<'_>) -> Result<()> {
    let case = run.named("cavity, 128^2 on all ranks");
    if !run.options.selects(&case) {
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
        world.stats().reset_profile();
        let start = Instant::now();
        flow.run(50)?;
        world.gpu().wait()?;
        let total = start.elapsed().as_secs_f64();
        let profile = world.stats().profile();
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
