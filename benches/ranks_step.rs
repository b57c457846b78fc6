//! Where the time of a simulation step goes (the paper's Figure 10): overhead, waiting for other ranks, computing.

mod common;
mod reference;

use std::time::Instant;

use serde_json::json;
use zippy::{Layout, Result, Split, include_wgsl};

use common::{Figure, Path, Run, Spread, on_ranks};
use reference::stencil::BareStencil;

/// Columns of the picture.
const COLUMNS: f64 = 50.0;

pub fn main() -> Result<()> {
    let about = "The share of a step of heat diffusion (ghost update, 7-point stencil) that is spent in overhead (packing, \
                 unpacking, local copies, planning), in waiting for other ranks, and in computing: the paper's Figure 10. Also \
                 the step's time when the ghost update overlaps the computation of the interior, and the time of the \
                 same stencil, written by hand with wgpu and without a ghost update (benches/reference/stencil.rs).";
    on_ranks("ranks_step", about, &[Path::Mapped, Path::Kernels], |run| {
        if run.world.rank() == 0 {
            println!("c computing, o overhead, w waiting, . anything else");
        }
        let growth = run.growth(4 * 128 * 128 * 128, 3) as usize;
        [32, 64, 128].into_iter().try_for_each(|n| step(run, n * growth))
    })
}

/// Seconds of one step by kind, of one rank.
#[derive(Clone, Copy)]
struct Shares {
    total: f64,
    computing: f64,
    overhead: f64,
    waiting: f64,
}

/// Samples of the three kinds of steps, of one rank.
#[derive(Default)]
struct StepSamples {
    blocking: Vec<Shares>,
    /// Seconds of steps with a ghost update that overlaps the computation.
    overlapping: Vec<f64>,
    /// Seconds of steps of the hand-written stencil.
    by_hand: Vec<f64>,
}

fn step(run: &Run, n: usize) -> Result<()> {
    let case = run.named(&format!("step, {n}^3 f32 a rank"));
    if !run.options.wants(&case) {
        return Ok(());
    }
    let world = run.world;
    let layout = Layout::new([n, n, n * world.size()]).split([1, 1, world.size()].map(Split::Even)).ghost([1; 3]);
    let fields = [world.array::<f32, 3>("even", &layout)?, world.array::<f32, 3>("odd", &layout)?];
    fields[0].fill_with(|[x, y, z]| (x * 3 + y * 5 + z * 7) as f32)?;
    let heat = world.kernel(include_wgsl!("../shaders/heat.wgsl"))?;
    let blocking = |which: usize| -> Result<Shares> {
        let (now, next) = (&fields[which % 2], &fields[(which + 1) % 2]);
        world.reset_profile();
        let start = Instant::now();
        world.ghosts(now)?;
        let computing = Instant::now();
        for (a, b) in zippy::together((now, next))? {
            heat.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        world.gpu().wait()?;
        let (total, computing) = (start.elapsed().as_secs_f64(), computing.elapsed().as_secs_f64());
        let profile = world.profile();
        Ok(Shares { total, computing, overhead: profile.overhead_secs(), waiting: profile.wait_secs })
    };
    let overlapping = |which: usize| -> Result<f64> {
        let (now, next) = (&fields[which % 2], &fields[(which + 1) % 2]);
        let start = Instant::now();
        let compute = |boundary: bool| {
            zippy::together((now, next))?.try_for_each(|(a, b)| {
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
    for which in 0..4 {
        blocking(which)?;
        overlapping(which)?;
        by_hand(which);
    }
    let mut samples = StepSamples::default();
    for which in 0..run.options.samples() {
        world.barrier()?;
        samples.blocking.push(blocking(which)?);
        world.barrier()?;
        samples.overlapping.push(overlapping(which)?);
        world.barrier()?;
        samples.by_hand.push(by_hand(which));
    }
    report(run, n, &case, samples)
}

fn report(run: &Run, n: usize, case: &str, samples: StepSamples) -> Result<()> {
    let world = run.world;
    let StepSamples { blocking: shares, overlapping, by_hand } = samples;
    // Means over steps and ranks, so that the parts add up.
    let mut sums = shares
        .iter()
        .fold([0.0; 4], |s, one| [s[0] + one.total, s[1] + one.computing, s[2] + one.overhead, s[3] + one.waiting]);
    world.group().all_reduce(&mut sums, |sum, more| *sum += more)?;
    let count = (shares.len() * world.size()) as f64;
    let [total, computing, overhead, waiting] = sums.map(|sum| sum / count);
    let part = |secs: f64| secs / total;
    let overlapping = Spread::of(&run.slowest(overlapping)?);
    let totals = run.slowest(shares.iter().map(|one| one.total).collect())?;
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
