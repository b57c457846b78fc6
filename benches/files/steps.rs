//! A heat solver's steps while a checkpoint is being written.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::json;
use zippy::array::GlobalArray;
use zippy::{Layout, Result, Split, include_wgsl};
use zippy_io::checkpoint::{Checkpoints, Contents};

use super::super::common::{Run, Spread};
use super::super::reference::files;

/// Cells of a rank along each axis, as in `ranks_step`.
const N: usize = 128;

/// The most time that a program should need while a save is under way, in terms of the same steps without one.
const TARGET: f64 = 1.15;

/// Steps without a save in each sample, at least.
const QUIET: usize = 20;

/// One sample, in seconds of the slowest rank. Nothing is left out: a step has the barrier before it and what comes behind it.
struct Sample {
    /// A step without a save.
    quiet: f64,
    /// A step while the save is written.
    saving: f64,
    /// From before `start` to behind `wait`, and the steps between them.
    whole: f64,
    steps: usize,
    start: f64,
    wait: f64,
    /// A step beside a plain write.
    plain: f64,
}

/// Steps of a small field while a large one is being written, so that there are many of them.
pub fn measure(
    run: &Run,
    (folder, samples): (&Path, usize),
    field: &GlobalArray<f32, 3>,
    (plain, offset, share): (&Path, u64, &[u8]),
) -> Result<()> {
    let (case, world) = (run.named("steps beside a save"), run.world);
    if !run.options.wants(&case) {
        return Ok(());
    }
    let layout = Layout::new([N, N, N * world.size()]).split([1, 1, world.size()].map(Split::Even)).ghost([1; 3]);
    let fields = [world.array::<f32, 3>("even", &layout)?, world.array::<f32, 3>("odd", &layout)?];
    fields[0].fill_with(|[x, y, z]| (x * 3 + y * 5 + z * 7) as f32)?;
    let heat = world.kernel(include_wgsl!("../../shaders/heat.wgsl"))?;
    let step = |which: usize| -> Result<()> {
        let (now, next) = (&fields[which % 2], &fields[(which + 1) % 2]);
        world.ghosts(now)?;
        for (a, b) in zippy::together((now, next))? {
            heat.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        Ok(world.gpu().wait()?)
    };
    // Steps until something has ended on all ranks: how many, and the seconds of one.
    let until = |is_done: &dyn Fn(usize) -> bool| -> Result<(usize, f64)> {
        let (begun, mut steps) = (Instant::now(), 0);
        loop {
            step(steps)?;
            steps += 1;
            let mut left = [u32::from(!is_done(steps))];
            world.group().all_reduce(&mut left, |most, other| *most = (*most).max(*other))?;
            if left[0] == 0 {
                return Ok((steps, begun.elapsed().as_secs_f64() / steps as f64));
            }
        }
    };
    let path = folder.join("steps.ckpt");
    let checkpoints = Checkpoints::new(&path, 1);
    let mut found = Vec::new();
    for sample in 0..=samples {
        clear(run, &path)?;
        world.barrier()?;
        let (_, quiet) = until(&|steps| steps == QUIET)?;
        let begun = Instant::now();
        let pending = checkpoints.start(world, sample as u64, &Contents::new().array(field))?;
        let start = begun.elapsed().as_secs_f64();
        let (steps, saving) = until(&|_| pending.is_done())?;
        let stepped = begun.elapsed().as_secs_f64();
        pending.wait()?;
        let whole = begun.elapsed().as_secs_f64();
        clear(run, plain)?;
        let ready = if world.rank() == 0 { std::fs::File::create(plain).map(drop) } else { Ok(()) };
        world.agree("making a plain file", ready.map_err(files::failed))?;
        let done = AtomicBool::new(false);
        let beside = std::thread::scope(|threads| {
            let writing = threads.spawn(|| {
                let written = files::write(plain, offset, share);
                done.store(true, Ordering::Release);
                written
            });
            let steps = until(&|_| done.load(Ordering::Acquire));
            let written = writing.join().expect("writing does not panic").map_err(files::failed);
            steps.and_then(|steps| written.map(|()| steps))
        });
        let (_, plain) = world.agree("steps beside a plain write", beside)?;
        let all = run.slowest(vec![quiet, saving, whole, start, whole - stepped, plain])?;
        let [quiet, saving, whole, start, wait, plain]: [f64; 6] = all.try_into().expect("six are six");
        // The first makes buffers and pipelines.
        if sample > 0 {
            found.push(Sample { quiet, saving, whole, steps, start, wait, plain });
        }
    }
    clear(run, &path)?;
    report(run, &case, &found);
    Ok(())
}

fn clear(run: &Run, path: &Path) -> Result<()> {
    let cleared = if run.world.rank() == 0 { files::remove(path) } else { Ok(()) };
    run.world.agree("removing a file", cleared.map_err(files::failed))
}

fn report(run: &Run, case: &str, found: &[Sample]) {
    if run.world.rank() != 0 || found.is_empty() {
        return;
    }
    let of = |value: fn(&Sample) -> f64| Spread::of(&found.iter().map(value).collect::<Vec<_>>());
    let ratio = of(|one| one.whole / (one.quiet * one.steps as f64));
    let (step, plain) = (of(|one| one.saving / one.quiet), of(|one| one.plain / one.quiet));
    let (quiet, whole, steps) = (of(|one| one.quiet), of(|one| one.whole), of(|one| one.steps as f64));
    let (start, wait) = (of(|one| one.start), of(|one| one.wait));
    let verdict = if ratio.median <= TARGET { "met" } else { "MISSED" };
    println!(
        "{case}: {N}^3 f32 a rank, {} steps of {:.1} ms in a save of {:.2} s",
        steps.median,
        1e3 * quiet.median,
        whole.median
    );
    println!(
        "    in terms of these steps without one {:.2} [{:.2}, {:.2}]   target {TARGET}: {verdict}",
        ratio.median, ratio.low, ratio.high
    );
    println!("    steps alone {:.2} [{:.2}, {:.2}]", step.median, step.low, step.high);
    println!("    steps beside a plain write {:.2} [{:.2}, {:.2}]", plain.median, plain.low, plain.high);
    println!("    start takes {:.3} s [{:.3}, {:.3}], wait {:.3} s", start.median, start.low, start.high, wait.median);
    run.add(json!({
        "case": case,
        "samples": found.len(),
        "steps_in_a_save": steps.median,
        "step_secs": quiet.median,
        "save_secs": whole.median,
        "ratio": ratio.median,
        "ratio_quartiles": [ratio.low, ratio.high],
        "target": TARGET,
        "ratio_of_steps": step.median,
        "ratio_of_steps_quartiles": [step.low, step.high],
        "ratio_of_steps_beside_a_plain_write": plain.median,
        "ratio_of_steps_beside_a_plain_write_quartiles": [plain.low, plain.high],
        "start_secs": start.median,
        "start_secs_quartiles": [start.low, start.high],
        "wait_secs": wait.median,
    }));
}
