//! Warm repeats of operations: no new buffer, pipeline or plan, with mapped chunks and with chunks
//! packed by kernels.

use std::process::Command;

use zippy::Exchange;
use zippy::{GlobalArray, Layout, Operator, Result, Split, World, include_wgsl};

use crate::support;

zippy_testing::in_place_too!();

/// Repeats all tests without mapped chunks, also under MPI.
#[test]
fn kernels_by_driver_too_under_mpi() {
    if std::env::var_os("ZIPPY_HOST_MAP").is_some() || support::launcher::size().is_some() {
        return;
    }
    if support::launcher::wanted() {
        return support::launcher::rerun(&[2, 3], &["warm::"], &[("ZIPPY_HOST_MAP", "0")]);
    }
    let mut command = Command::new(std::env::current_exe().expect("a test binary has a path"));
    let output = command.args(["warm::", "--skip", "too"]).env("ZIPPY_HOST_MAP", "0").output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("repeated_ghost_update_creates_nothing ... ok"), "{}", text(&output.stdout));
}

/// Repeats `step` until it is warm, and checks that warm repeats create nothing on this rank.
///
/// Between repeats, each rank waits for its device and for the other ranks, so that no message of
/// the previous repeat is in transit.
///
/// `new` is the number of plans that the first repeat builds, and `used` the number of plans of
/// each repeat.
fn check_warm_repeats(
    world: &World,
    label: &str,
    [new, used]: [u64; 2],
    mut step: impl FnMut() -> Result<()>,
) -> Result<()> {
    let mut settled = || {
        step()?;
        world.gpu().wait()?;
        world.barrier()?;
        world.group().wait_for(None, || Ok(world.group().flushed()?.then_some(())))
    };
    let cold = world.stats().plan_counters();
    (0..3).try_for_each(|_| settled())?;
    assert_eq!(world.stats().plan_counters().built - cold.built, new, "{label} builds its plans once");
    let made = || {
        let device = world.gpu().counters();
        ([device.buffers_made, device.bytes_now, device.host_made], device.pipelines_made)
    };
    // The number of buffers that a step needs at a time depends on the timing of the ranks.
    let (mut quiet, mut noisy) = (0, 0);
    for repeat in 0.. {
        if noisy > MAX_NOISY_REPEATS || repeat >= MIN_REPEATS && quiet >= FINAL_QUIET_REPEATS {
            break;
        }
        let (before, planned) = (made(), world.stats().plan_counters());
        settled()?;
        let (after, planned_after) = (made(), world.stats().plan_counters());
        assert_eq!(planned_after.built, planned.built, "{label} builds no plan");
        assert_eq!(planned_after.reused - planned.reused, used, "{label} finds its plans");
        assert_eq!(after.1, before.1, "{label} compiles nothing");
        (quiet, noisy) = if after.0 == before.0 { (quiet + 1, noisy) } else { (0, noisy + 1) };
    }
    assert!(noisy <= MAX_NOISY_REPEATS, "{label} makes buffers or payloads, or allocates: {noisy} times");
    Ok(())
}

const MIN_REPEATS: usize = 16;

const MAX_NOISY_REPEATS: usize = 4;

/// Number of final repeats that must create nothing.
const FINAL_QUIET_REPEATS: usize = 4;

/// Fills an array with values that encode their position.
fn fill_with_positions<const D: usize>(array: &GlobalArray<f32, D>) -> Result<()> {
    array.fill_with(|p| p.iter().fold(1.0, |sum, &x| sum * 37.0 + x as f32))
}

#[test]
fn repeated_ghost_update_creates_nothing() {
    support::ranks(support::RANKS, |world| {
        // Two chunks per rank, and one more.
        let split = [Split::Even(world.size() * 2 + 1), Split::Whole, Split::Even(1)];
        let layout = Layout::new([41, 9, 11]).split(split).ghost([1, 2, 1]).periodic([true, false, true]);
        let field = world.array::<f32, 3>("field", &layout)?;
        let bytes = world.array::<u8, 3>("bytes", &layout)?;
        fill_with_positions(&field)?;
        check_warm_repeats(world, "a ghost update", [1, 1], || world.ghosts(&field).map(drop))?;
        check_warm_repeats(world, "one of faces", [1, 1], || {
            world.exchange(Exchange::new().ghosts(&field).faces_only()).map(drop)
        })?;
        check_warm_repeats(world, "one of two arrays", [1, 1], || {
            world.exchange(Exchange::new().ghosts(&field).ghosts(&bytes)).map(drop)
        })?;
        check_warm_repeats(world, "a started one", [0, 1], || world.start_ghosts(&field)?.wait().map(drop))?;
        check_warm_repeats(world, "the reverse way", [1, 1], || {
            world.exchange(Exchange::new().ghosts(&field).reverse_with(Operator::Add)).map(drop)
        })
    });
}

#[test]
fn repeated_step_with_kernels_creates_nothing() {
    support::ranks(support::RANKS, |world| {
        let layout = Layout::new([67, 45]).split([Split::Even(world.size()), Split::Even(2)]).ghost([1, 1]);
        let fields = [world.array::<f32, 2>("even", &layout)?, world.array::<f32, 2>("odd", &layout)?];
        fill_with_positions(&fields[0])?;
        let diffuse = world.kernel(include_wgsl!("../../shaders/diffuse.wgsl"))?;
        let half_step = |now: &GlobalArray<f32, 2>, next: &GlobalArray<f32, 2>| -> Result<()> {
            let run = |boundary: bool| {
                zippy::zip_chunks((now, next))?.try_for_each(|(a, b)| {
                    let domain = if boundary { b.boundary() } else { b.interior() };
                    let call = diffuse.call().read("now", a.all()).write("next", b.all());
                    call.over(domain).param("rate", 0.125_f32).run()
                })
            };
            let halo = world.start_ghosts(now)?;
            run(false)?;
            halo.wait()?;
            run(true)
        };
        // Both arrays have the same layout and share one plan.
        check_warm_repeats(world, "a step", [1, 2], || {
            half_step(&fields[0], &fields[1])?;
            half_step(&fields[1], &fields[0])
        })
    });
}

#[test]
fn repeated_copies_create_nothing() {
    support::ranks(support::RANKS, |world| {
        let ranks = world.size();
        let slabs = Layout::new([24, 18, 20]).split([Split::Whole, Split::Whole, Split::Even(ranks)]);
        let blocks = Layout::new([24, 18, 20]).split([Split::Even(3), Split::Even(2), Split::Even(1)]).ghost([1, 1, 1]);
        let turned = Layout::new([20, 24, 18]).split([Split::Even(ranks), Split::Even(2), Split::Whole]);
        let a = world.array::<f32, 3>("slabs", &slabs)?;
        let b = world.array::<f32, 3>("blocks", &blocks)?;
        let c = world.array::<f32, 3>("turned", &turned)?;
        fill_with_positions(&a)?;
        check_warm_repeats(world, "a redistribution", [1, 1], || world.copy(a.at(..), b.at(..)).map(drop))?;
        check_warm_repeats(world, "a permuted copy", [1, 1], || {
            world.exchange(Exchange::new().copy(a.at(..), c.at(..)).permuted([2, 0, 1])).map(drop)
        })?;
        check_warm_repeats(world, "a shift", [1, 1], || {
            world.copy(a.at((1.., .., 1..)), a.at((..23, .., ..19))).map(drop)
        })?;
        check_warm_repeats(world, "a started shift", [0, 1], || {
            world.start_copy(a.at((1.., .., 1..)), a.at((..23, .., ..19)))?.wait().map(drop)
        })?;
        let window = world.local_array::<f32, 3>("window", &Layout::new([5, 6, 7]))?;
        let rank = world.rank() as i64;
        let own = (rank..rank + 5, 2..8, 3..10);
        check_warm_repeats(world, "a copy to local arrays", [0, 0], || {
            world.copy(b.at(own.clone()), window.all()).map(drop)
        })?;
        check_warm_repeats(world, "a copy from local arrays", [0, 0], || {
            world.copy(window.all(), b.at(own.clone())).map(drop)
        })
    });
}

#[test]
fn composite_with_new_handles_creates_nothing() {
    support::ranks(support::RANKS, |world| {
        let (ranks, layers) = (world.size(), 2 * world.size() as i64);
        let layout = Layout::new([33, 21, layers]).split([Split::Whole, Split::Whole, Split::Even(2 * ranks)]);
        let images = world.array::<[f32; 4], 3>("images", &layout)?;
        images.fill_with(|[x, y, layer]| [x as f32 / 64.0, y as f32 / 64.0, layer as f32 / 64.0, 0.5])?;
        // Every repeat creates a new handle with the same layout.
        let order: Vec<usize> = (0..2 * ranks).rev().collect();
        let (front, back) = ((.., .., 0..layers / 2), (.., .., layers / 2..));
        for (label, new, operator) in [("over", 1, Operator::Over), ("the larger", 0, Operator::Max)] {
            check_warm_repeats(world, label, [new, 1], || {
                let images = images.reassigned(&order)?;
                world.composite(images.at(front.clone()), images.at(back.clone()), operator.clone()).map(drop)
            })?;
        }
        let image = world.array::<[f32; 4], 3>("image", &Layout::new([33, 21, layers]).split_all(Split::Whole))?;
        check_warm_repeats(world, "a started composite", [1, 1], || {
            world.start(Exchange::new().composite(images.at(..), image.at(..), Operator::Over))?.wait().map(drop)
        })
    });
}

#[test]
fn repeated_one_sided_operations_create_nothing() {
    support::ranks(support::RANKS, |world| {
        let layout = Layout::new([40, 30]).split([Split::Even(world.size()), Split::Even(3)]).ghost([1, 0]);
        let array = world.array::<f32, 2>("array", &layout)?;
        fill_with_positions(&array)?;
        let window = world.local_array::<f32, 2>("window", &Layout::new([9, 30]))?;
        let start = world.rank() as i64 * 3;
        let part = (start..start + 9, ..);
        let values = vec![0.5; 9 * 30];
        check_warm_repeats(world, "a get", [0, 0], || {
            let ticket = world.get(array.at(part.clone()))?;
            world.fence()?.redeem(ticket).map(drop)
        })?;
        check_warm_repeats(world, "a get into a local array", [0, 0], || {
            world.get_into(array.at(part.clone()), window.all())?;
            world.fence().map(drop)
        })?;
        check_warm_repeats(world, "a put", [0, 0], || {
            world.put(&values, array.at(part.clone()))?;
            world.put(window.all(), array.at(part.clone()))?;
            world.fence().map(drop)
        })?;
        check_warm_repeats(world, "an accumulate", [0, 0], || {
            world.accumulate(&values, array.at(part.clone()), Operator::Add)?;
            world.accumulate(&values, array.at(part.clone()), Operator::Min)?;
            world.fence().map(drop)
        })
    });
}
