//! Division of a simulation step's time into computing, overhead and waiting for other ranks, like
//! Figure 10 of the paper.

mod common;
mod reference;

use std::time::Instant;

use serde_json::json;
use zippy::{Layout, Result, Split, include_wgsl};

use common::{ChunkAccess, Figure, Run, Spread, on_ranks};
use reference::stencil::BareStencil;

const COLUMNS: f64 = 50.0;

pub(crate) fn main() -> Result<()> {
    let about = "Shares of a step of heat diffusion (ghost update, 7-point stencil): overhead (packing, unpacking, local \
                 copies, planning), waiting for other ranks, and computing, like Figure 10 of the paper. Also the time of \
                 a step whose ghost update overlaps the computation of the interior, and of the same stencil in \
                 hand-written wgpu without a ghost update (benches/reference/stencil.rs).";
    on_ranks("ranks_step", about, &[ChunkAccess::Mapped, ChunkAccess::Kernels], |run| {
        if run.world.rank() == 0 {
            println!("c computing, o overhead, w waiting, . rest");
        }
        let growth = run.growth(4 * 128 * 128 * 128, 3) as usize;
        [32, 64, 128].into_iter().try_for_each(|n| step(run, n * growth, 1))?;
        // 512 chunks of 8^3 cells.
        step(run, 64, 8)
    })
}

#[derive(Clone, Copy)]
struct Shares {
    total: f64,
    computing: f64,
    overhead: f64,
    waiting: f64,
}

#[derive(Default)]
struct StepSamples {
    blocking: Vec<Shares>,
    /// Seconds of steps whose ghost update overlaps the computation.
    overlapping: Vec<f64>,
    /// Seconds of steps of the hand-written stencil.
    by_hand: Vec<f64>,
}

/// Measures steps over n³ cells a rank, with `cuts` parts of a rank's cells along each axis.
fn step(run: &Run<'_>, n: usize, cuts: usize) -> Result<()> {
    let chunks = if cuts > 1 { format!(" in {} chunks", cuts.pow(3)) } else { String::new() };
    let case = run.named(&format!("step, {n}^3 f32 a rank{chunks}"));
    if !run.options.selects(&case) {
        return Ok(());
    }
    let world = run.world;
    let cuts = [cuts, cuts, cuts * world.size()].map(Split::Even);
    let layout = Layout::new([n, n, n * world.size()]).split(cuts).ghost([1; 3]);
    let fields = [world.array::<f32, 3>("even", &layout)?, world.array::<f32, 3>("odd", &layout)?];
    fields[0].fill_with(|[x, y, z]| (x * 3 + y * 5 + z * 7) as f32)?;
    let heat = world.kernel(include_wgsl!("../shaders/heat.wgsl"))?;
    let blocking = |step_index: usize| -> Result<Shares> {
        let (now, next) = (&fields[step_index % 2], &fields[(step_index + 1) % 2]);
        world.stats().reset_profile();
        let start = Instant::now();
        world.ghosts(now)?;
        let computing = Instant::now();
        for (a, b) in zippy::zip_chunks((now, next))? {
            heat.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        world.gpu().wait()?;
        let (total, computing) = (start.elapsed().as_secs_f64(), computing.elapsed().as_secs_f64());
        let profile = world.stats().profile();
        Ok(Shares { total, computing, overhead: profile.overhead_secs(), waiting: profile.wait_secs })
    };
    let overlapping = |step_index: usize| -> Result<f64> {
        let (now, next) = (&fields[step_index % 2], &fields[(step_index + 1) % 2]);
        let start = Instant::now();
        let compute = |boundary: bool| {
            zippy::zip_chunks((now, next))?.try_for_each(|(a, b)| {
                let domain = if boundary { b.boundary() } else { b.interior() };
                heat.call().read("now", a.all()).write("next", b.all()).over(domain).run()
            })
        };
        let halo = world.start_ghosts(now)?;
        compute(false)?;
        world.gpu().flush()?;
        halo.wait()?;
        compute(true)?;
        world.gpu().wait()?;
        Ok(start.elapsed().as_secs_f64())
    };
    let stencil = BareStencil::new(world.gpu(), n);
    let by_hand = |step_index: usize| {
        let start = Instant::now();
        stencil.step(world.gpu(), step_index);
        start.elapsed().as_secs_f64()
    };
    for step_index in 0..4 {
        blocking(step_index)?;
        overlapping(step_index)?;
        by_hand(step_index);
    }
    let mut samples = StepSamples::default();
    for step_index in 0..run.options.samples() {
        world.barrier()?;
        samples.blocking.push(blocking(step_index)?);
        world.barrier()?;
        samples.overlapping.push(overlapping(step_index)?);
        world.barrier()?;
        samples.by_hand.push(by_hand(step_index));
    }
    report(run, n, &case, samples)
}

fn report(run: &Run<'_>, n: usize, case: &str, samples: StepSamples) -> Result<()> {
    let world = run.world;
    let StepSamples { blocking: shares, overlapping, by_hand } = samples;
    // Means over steps and ranks, so that the parts add up.
    let mut sums = shares.iter().fold([0.0; 4], |s, step| {
        [s[0] + step.total, s[1] + step.computing, s[2] + step.overhead, s[3] + step.waiting]
    });
    world.group().all_reduce(&mut sums, |sum, more| *sum += more)?;
    let count = (shares.len() * world.size()) as f64;
    let [total, computing, overhead, waiting] = sums.map(|sum| sum / count);
    let part = |secs: f64| secs / total;
    let overlapping = Spread::of(&run.slowest(overlapping)?);
    let totals = run.slowest(shares.iter().map(|step| step.total).collect())?;
    let library = Figure::new("zippy", &totals, &totals);
    let by_hand = Figure::new("the stencil by hand with wgpu", &run.slowest(by_hand)?, &totals);
    let steps = Spread::of(&totals);
    if world.rank() != 0 {
        return Ok(());
    }
    let bar = |letter: char, secs: f64| letter.to_string().repeat((part(secs) * COLUMNS).round() as usize);
    let other = (total - computing - overhead - waiting).max(0.0);
    let picture = [bar('c', computing), bar('o', overhead), bar('w', waiting), bar('.', other)].concat();
    let percent = |secs: f64| part(secs) * 100.0;
    println!(
        "{case:<34} {picture:<52} {:.0} % computing, {:.0} % overhead, {:.0} % waiting; step {:.0} us, overlapping {:.0} us, \
         the stencil by hand {:.0} us",
        percent(computing),
        percent(overhead),
        percent(waiting),
        steps.median * 1e6,
        overlapping.median * 1e6,
        by_hand.secs.median * 1e6
    );
    run.add(json!({
        "case": case,
        "bytes_per_rank": 8 * n * n * n,
        "computing": part(computing),
        "overhead": part(overhead),
        "waiting": part(waiting),
        "median_step_secs": steps.median,
        "quartiles_step_secs": [steps.low, steps.high],
        "median_overlapping_step_secs": overlapping.median,
        "figures": [library.json(), by_hand.json()],
    }));
    Ok(())
}
