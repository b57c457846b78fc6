//! Steps of a heat solver while a checkpoint is written.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::json;
use zippy::array::GlobalArray;
use zippy::{Layout, Result, Split, include_wgsl};
use zippy_store::checkpoint::{Checkpoints, Contents};

use super::super::common::{Run, Spread};
use super::super::reference::files;

/// Cells of a rank along each axis, as in `ranks_step`.
const N: usize = 128;

/// Upper limit for the time of a program during a save, relative to the same steps without a save.
const TARGET: f64 = 1.15;

const QUIET_STEPS: usize = 20;

/// Seconds of the slowest rank in one sample. The time of a step includes the barrier before it and
/// the agreement after it.
struct Sample {
    quiet: f64,
    saving: f64,
    /// From before `start` until after `wait`.
    whole: f64,
    steps: usize,
    start: f64,
    wait: f64,
    plain: f64,
}

/// A plain write for comparison: this rank's bytes and their offset in the file.
pub(crate) struct PlainWrite<'a> {
    pub path: &'a Path,
    pub offset: u64,
    pub bytes: &'a [u8],
}

/// Measures steps of a small field during a save of the large `field` in `folder`.
pub(crate) fn measure(
    run: &Run<'_>,
    samples: usize,
    folder: &Path,
    field: &GlobalArray<f32, 3>,
    plain_write: &PlainWrite<'_>,
) -> Result<()> {
    let (case, world) = (run.named("steps beside a save"), run.world);
    if !run.options.selects(&case) {
        return Ok(());
    }
    let layout = Layout::new([N, N, N * world.size()]).split([1, 1, world.size()].map(Split::Even)).ghost([1; 3]);
    let fields = [world.array::<f32, 3>("even", &layout)?, world.array::<f32, 3>("odd", &layout)?];
    fields[0].fill_with(|[x, y, z]| (x * 3 + y * 5 + z * 7) as f32)?;
    let heat = world.kernel(include_wgsl!("../../shaders/heat.wgsl"))?;
    let step = |step_index: usize| -> Result<()> {
        let (now, next) = (&fields[step_index % 2], &fields[(step_index + 1) % 2]);
        world.ghosts(now)?;
        for (a, b) in zippy::zip_chunks((now, next))? {
            heat.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        Ok(world.gpu().wait()?)
    };
    // Number of steps until `is_done` on all ranks, and the seconds of a step.
    let until = |is_done: &dyn Fn(usize) -> bool| -> Result<(usize, f64)> {
        let (begun, mut steps) = (Instant::now(), 0);
        loop {
            step(steps)?;
            steps += 1;
            let mut unfinished = [u32::from(!is_done(steps))];
            world.group().all_reduce(&mut unfinished, |max, other| *max = (*max).max(*other))?;
            if unfinished[0] == 0 {
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
        let (_, quiet) = until(&|steps| steps == QUIET_STEPS)?;
        let begun = Instant::now();
        let pending = checkpoints.start(world, sample as u64, &Contents::new().array(field))?;
        let start = begun.elapsed().as_secs_f64();
        let (steps, saving) = until(&|_| pending.is_done())?;
        let stepped = begun.elapsed().as_secs_f64();
        pending.wait()?;
        let whole = begun.elapsed().as_secs_f64();
        let &PlainWrite { path: plain_path, offset, bytes } = plain_write;
        clear(run, plain_path)?;
        let ready = if world.rank() == 0 { std::fs::File::create(plain_path).map(drop) } else { Ok(()) };
        world.agree("making a plain file", ready.map_err(files::failed))?;
        let done = AtomicBool::new(false);
        let during_write = std::thread::scope(|threads| {
            let writing = threads.spawn(|| {
                let written = files::write(plain_path, offset, bytes);
                done.store(true, Ordering::Release);
                written
            });
            let steps = until(&|_| done.load(Ordering::Acquire));
            let written = writing.join().expect("writing does not panic").map_err(files::failed);
            steps.and_then(|steps| written.map(|()| steps))
        });
        let (_, plain) = world.agree("steps during a plain write", during_write)?;
        let all = run.slowest(vec![quiet, saving, whole, start, whole - stepped, plain])?;
        let [quiet, saving, whole, start, wait, plain]: [f64; 6] = all.try_into().expect("six values");
        // The first sample is a warm-up: it creates buffers and pipelines.
        if sample > 0 {
            found.push(Sample { quiet, saving, whole, steps, start, wait, plain });
        }
    }
    clear(run, &path)?;
    report(run, &case, &found);
    Ok(())
}

fn clear(run: &Run<'_>, path: &Path) -> Result<()> {
    let cleared = if run.world.rank() == 0 { files::remove(path) } else { Ok(()) };
    run.world.agree("removing a file", cleared.map_err(files::failed))
}

fn report(run: &Run<'_>, case: &str, found: &[Sample]) {
    if run.world.rank() != 0 || found.is_empty() {
        return;
    }
    let spread = |value: fn(&Sample) -> f64| Spread::of(&found.iter().map(value).collect::<Vec<_>>());
    let ratio = spread(|s| s.whole / (s.quiet * s.steps as f64));
    let (step, plain) = (spread(|s| s.saving / s.quiet), spread(|s| s.plain / s.quiet));
    let (quiet, whole, steps) = (spread(|s| s.quiet), spread(|s| s.whole), spread(|s| s.steps as f64));
    let (start, wait) = (spread(|s| s.start), spread(|s| s.wait));
    let verdict = if ratio.median <= TARGET { "met" } else { "MISSED" };
    println!(
        "{case}: {N}^3 f32 a rank, {} steps of {:.1} ms in a save of {:.2} s",
        steps.median,
        1e3 * quiet.median,
        whole.median
    );
    println!(
        "    ratio to the same steps without a save {:.2} [{:.2}, {:.2}]   target {TARGET}: {verdict}",
        ratio.median, ratio.low, ratio.high
    );
    println!("    ratio of steps alone {:.2} [{:.2}, {:.2}]", step.median, step.low, step.high);
    println!("    ratio of steps during a plain write {:.2} [{:.2}, {:.2}]", plain.median, plain.low, plain.high);
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
