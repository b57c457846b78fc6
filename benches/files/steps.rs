//! A heat solver's steps while a checkpoint is being written.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::json;
use zippy::array::GlobalArray;
use zippy::{Layout, Result, Split, include_wgsl};
use zippy_io::checkpoint::{Checkpoints, Contents};

use crate::common::{Run, Spread};
use crate::reference::files;

/// Cells of a rank along each axis, as in `ranks_step`.
const N: usize = 128;

/// The most that a step should take while a save is being written, in terms of one without.
const TARGET: f64 = 1.15;

/// Steps without a save in each sample, at least.
const QUIET: usize = 20;

/// Seconds of steps that the slowest rank took, in one sample.
struct Sample {
    quiet: f64,
    saving: f64,
    plain: f64,
    start: f64,
    save: f64,
    steps: usize,
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
    let heat = world.kernel(include_wgsl!("../heat.wgsl"))?;
    let step = |which: usize| -> Result<f64> {
        let (now, next) = (&fields[which % 2], &fields[(which + 1) % 2]);
        world.barrier()?;
        let begun = Instant::now();
        world.ghosts(now)?;
        for (a, b) in zippy::together((now, next))? {
            heat.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        world.gpu().wait()?;
        Ok(begun.elapsed().as_secs_f64())
    };
    let median = |secs: Vec<f64>| -> Result<f64> { Ok(Spread::of(&run.slowest(secs)?).median) };
    // Steps until something has ended on all ranks; the last one, in which it has ended, does not count.
    let until = |is_done: &dyn Fn() -> bool| -> Result<(f64, usize)> {
        let mut secs = Vec::new();
        loop {
            secs.push(step(secs.len())?);
            let mut left = [u32::from(!is_done())];
            world.group().all_reduce(&mut left, |most, other| *most = (*most).max(*other))?;
            if left[0] == 0 {
                break;
            }
        }
        if secs.len() > 1 {
            secs.pop();
        }
        let count = secs.len();
        Ok((median(secs)?, count))
    };
    let path = folder.join("steps.ckpt");
    let checkpoints = Checkpoints::new(&path, 1);
    let mut found = Vec::new();
    for sample in 0..=samples {
        clear(run, &path)?;
        let quiet = median((0..QUIET).map(step).collect::<Result<_>>()?)?;
        let begun = Instant::now();
        let pending = checkpoints.start(world, sample as u64, &Contents::new().array(field))?;
        let start = begun.elapsed().as_secs_f64();
        let (saving, steps) = until(&|| pending.is_done())?;
        pending.wait()?;
        let save = begun.elapsed().as_secs_f64();
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
            let steps = until(&|| done.load(Ordering::Acquire));
            let written = writing.join().expect("writing does not panic").map_err(files::failed);
            steps.and_then(|steps| written.map(|()| steps))
        });
        let (plain, _) = world.agree("steps beside a plain write", beside)?;
        let [start, save]: [f64; 2] = run.slowest(vec![start, save])?.try_into().expect("two are two");
        // The first makes buffers and pipelines.
        if sample > 0 {
            found.push(Sample { quiet, saving, plain, start, save, steps });
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
    let (ratio, plain) = (of(|one| one.saving / one.quiet), of(|one| one.plain / one.quiet));
    let (quiet, saving) = (of(|one| one.quiet), of(|one| one.saving));
    let (start, save, steps) = (of(|one| one.start), of(|one| one.save), of(|one| one.steps as f64));
    let verdict = if ratio.median <= TARGET { "met" } else { "MISSED" };
    println!("{case}: {N}^3 f32 a rank, {} steps in a save", steps.median);
    println!("    a step: {:.1} ms without a save, {:.1} ms with one", 1e3 * quiet.median, 1e3 * saving.median);
    println!("    ratio {:.2} [{:.2}, {:.2}]   target {TARGET}: {verdict}", ratio.median, ratio.low, ratio.high);
    println!("    ratio beside a plain write {:.2} [{:.2}, {:.2}]", plain.median, plain.low, plain.high);
    println!(
        "    start takes {:.3} s [{:.3}, {:.3}], the save {:.2} s",
        start.median, start.low, start.high, save.median
    );
    run.add(json!({
        "case": case,
        "samples": found.len(),
        "steps_in_a_save": steps.median,
        "step_secs": quiet.median,
        "step_secs_while_saving": saving.median,
        "ratio": ratio.median,
        "ratio_quartiles": [ratio.low, ratio.high],
        "ratio_beside_a_plain_write": plain.median,
        "ratio_beside_a_plain_write_quartiles": [plain.low, plain.high],
        "target": TARGET,
        "start_secs": start.median,
        "start_secs_quartiles": [start.low, start.high],
        "save_secs": save.median,
    }));
}
