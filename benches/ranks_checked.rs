//! Cost of debug points, and of checked runs compared with unchecked runs of a heat solver.

mod common;

use std::time::Instant;

use serde_json::json;
use zippy::{Config, Layout, Result, Split, World, include_wgsl, run_with};

use common::{Options, Spread};

const POINTS: usize = 20_000;
const STEPS: usize = 6;
const TURNS: usize = 5;

pub(crate) fn main() -> Result<()> {
    let about = "Time of a debug point without a viewer (target 1 us), and of a step of heat diffusion (ghost update, \
                 7-point stencil) in a checked run (ZIPPY_CHECK=1, target 3 times an unchecked step).";
    let options = Options::parse("ranks_checked", about);
    let mut cases = Vec::new();
    if options.selects("debug point") {
        let all =
            run_with(Config::new().check(false), |world| Ok((world.rank() == 0, debug_points(world, &options)?)))?;
        for (_, spread) in all.into_iter().filter(|(first, _)| *first) {
            println!(
                "{:<34} {:.0} ns ({:.0} to {:.0})",
                "debug point",
                spread.median * 1e9,
                spread.low * 1e9,
                spread.high * 1e9
            );
            cases.push(json!({ "case": "debug point", "median_secs": spread.median, "quartiles_secs": [spread.low, spread.high] }));
            common::write(&cases);
        }
    }
    for n in [32, 64, 128, 192] {
        let case = format!("step, {n}^3 f32 a rank");
        if !options.selects(&case) {
            continue;
        }
        let mut ratios = Vec::new();
        let mut secs = [Vec::new(), Vec::new()];
        let mut is_first = false;
        for _ in 0..TURNS {
            for (checked, secs) in secs.iter_mut().enumerate() {
                let found =
                    run_with(Config::new().check(checked == 1), |world| Ok((world.rank() == 0, heat(world, n)?)))?;
                is_first |= found.iter().any(|(first, _)| *first);
                secs.push(found.iter().map(|(_, secs)| *secs).fold(0.0, f64::max));
            }
            ratios.push(secs[1].last().unwrap_or(&0.0) / secs[0].last().unwrap_or(&1.0));
        }
        let [plain, checked] = secs.map(|secs| Spread::of(&secs));
        let ratio = Spread::of(&ratios);
        if is_first {
            println!(
                "{case:<34} {:.0} us, checked {:.0} us: {:.2} times ({:.2} to {:.2})",
                plain.median * 1e6,
                checked.median * 1e6,
                ratio.median,
                ratio.low,
                ratio.high
            );
            cases.push(json!({
                "case": case,
                "median_step_secs": plain.median,
                "median_checked_step_secs": checked.median,
                "ratio": ratio.median,
                "quartiles_ratio": [ratio.low, ratio.high],
            }));
            common::write(&cases);
        }
    }
    Ok(())
}

fn debug_points(world: &World, options: &Options) -> Result<Spread> {
    let mut secs = Vec::new();
    for _ in 0..options.samples() {
        world.barrier()?;
        let start = Instant::now();
        (0..POINTS).try_for_each(|_| world.debug_point("a step"))?;
        secs.push(start.elapsed().as_secs_f64() / POINTS as f64);
    }
    Ok(Spread::of(&secs))
}

/// Median of the seconds of a heat step on this rank.
fn heat(world: &World, n: usize) -> Result<f64> {
    let layout = Layout::new([n, n, n * world.size()]).split([1, 1, world.size()].map(Split::Even)).ghost([1; 3]);
    let fields = [world.array::<f32, 3>("even", &layout)?, world.array::<f32, 3>("odd", &layout)?];
    fields[0].fill_with(|[x, y, z]| (x * 3 + y * 5 + z * 7) as f32)?;
    let heat = world.kernel(include_wgsl!("../shaders/heat.wgsl"))?;
    let mut secs = Vec::new();
    for step_index in 0..STEPS + 2 {
        let (now, next) = (&fields[step_index % 2], &fields[(step_index + 1) % 2]);
        world.barrier()?;
        let start = Instant::now();
        world.ghosts(now)?;
        for (a, b) in zippy::zip_chunks((now, next))? {
            heat.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        world.gpu().wait()?;
        secs.push(start.elapsed().as_secs_f64());
    }
    Ok(Spread::of(&secs[2..]).median)
}
