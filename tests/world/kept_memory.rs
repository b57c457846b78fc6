//! Repeated operations of a long program do not accumulate memory.

use zippy::{KernelSource, Layout, Operator, Result, Split, World};

use crate::counting::held;
use crate::support;

/// Resident bytes of this process; 0 if the operating system does not report them.
fn resident_bytes() -> i64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<i64>().ok()).map_or(0, |pages| 4096 * pages)
}

/// Runs a program in a separate process on one rank, whose test binary counts the allocated bytes
/// per thread.
fn run_in_separate_process(test: &str, program: impl Fn(&World) -> Result<()> + Send + Sync) {
    if support::is_alone() {
        support::ranks(&[1], program)
    } else {
        support::alone(&format!("world::kept_memory::{test}"), &[])
    }
}

/// Checks that the memory of repeated calls is bounded: of `times` calls of `each`, the last
/// quarter may increase the allocated memory by at most `most` bytes.
fn check_memory_is_bounded(
    world: &World,
    label: &str,
    times: i64,
    most: i64,
    mut each: impl FnMut(i64) -> Result<()>,
) -> Result<()> {
    let mut settled = (0, 0);
    for time in 0..times {
        if time == times - times / 4 {
            world.barrier()?;
            settled = (held() as i64, resident_bytes());
        }
        each(time)?;
    }
    world.barrier()?;
    let (allocated, resident) = (held() as i64 - settled.0, resident_bytes() - settled.1);
    assert!(allocated < most, "{label}: {allocated} bytes allocated");
    // Drivers allocate uncounted memory, and allocators keep some free memory.
    assert!(resident < most + (32 << 20), "{label}: {resident} bytes in memory");
    Ok(())
}

#[test]
fn dropped_handles_free_their_memory() {
    run_in_separate_process("dropped_handles_free_their_memory", |world| {
        let mut hits = world.growable::<u32>("hits")?;
        hits.append(&[7; 5])?;
        // The number of earlier handles determines whether the numbers of new handles are odd.
        let layout = Layout::new([6]).split([Split::Even(2)]);
        let mut others = Vec::new();
        for parity in ["one", "two"] {
            others.push(world.array::<u32, 1>(parity, &layout)?);
            check_memory_is_bounded(world, "publish", 50_000, 1 << 20, |_| world.publish(&hits).map(drop))?;
            let handle = |_| others[0].reassigned(&[1, 0]).map(drop);
            check_memory_is_bounded(world, "reassigned", 50_000, 1 << 20, handle)?;
        }
        check_memory_is_bounded(world, "array", 10_000, 1 << 20, |_| {
            world.array::<u32, 1>("again", &layout).map(drop)
        })?;
        check_memory_is_bounded(world, "local_array", 10_000, 1 << 20, |_| {
            world.local_array::<u32, 1>("own", &layout).map(drop)
        })
    });
}

#[test]
fn cached_plans_are_bounded_by_their_bytes() {
    run_in_separate_process("cached_plans_are_bounded_by_their_bytes", |world| {
        let layout = Layout::new([1 << 10]).split([Split::Even(16)]);
        let (from, to) = (world.array::<u32, 1>("from", &layout)?, world.array::<u32, 1>("to", &layout)?);
        from.fill_with(|[x]| x as u32)?;
        check_memory_is_bounded(world, "copies", 100_000, 24 << 20, |time| {
            let (start, cells) = (time % 500, 1 + time / 500);
            world.copy(from.at(start..start + cells), to.at(start + 7..start + 7 + cells)).map(drop)
        })?;
        // A few plans of many moves take as many bytes as many plans of few moves.
        let ends = |of: i64| (0..1000).map(move |x| (x * 7 + of) % 1000);
        check_memory_is_bounded(world, "copies of many boxes", 600, 24 << 20, |time| {
            let pairs: Vec<_> = ends(time).zip(ends(3 * time + 1)).collect();
            let pairs = pairs.into_iter().map(|(a, b)| (from.at(a..a + 1), to.at(b..b + 1)));
            world.exchange(zippy::Exchange::new().copies(pairs)).map(drop)
        })
    });
}

#[test]
fn large_plans_that_are_used_in_turn_are_kept() {
    let test = "world::kept_memory::large_plans_that_are_used_in_turn_are_kept";
    if !support::is_alone() {
        return support::alone(test, &[]);
    }
    // At first, the share of a rank is smaller than its plan for all neighbours.
    zippy_device::device::set_cache_capacity(8 << 20);
    support::ranks(&[8], |world| {
        let layout = Layout::new([32; 3]).split([8; 3].map(Split::Even)).ghost([1; 3]).periodic([true; 3]);
        let [array, other] = ["one", "other"].map(|name| world.array::<u32, 3>(name, &layout));
        let (array, other) = (array?, other?);
        let step = || -> Result<()> {
            world.ghosts(&array)?;
            world.exchange(zippy::Exchange::new().ghosts(&array).faces_only())?;
            world.copy(array.at((0..27, .., ..)), other.at((5..32, .., ..))).map(drop)
        };
        let built = || -> Result<u64> {
            let before = world.stats().plan_counters().built;
            step()?;
            Ok(world.stats().plan_counters().built - before)
        };
        assert_eq!(built()?, 3);
        assert!(built()? > 0, "the plans fit from the start");
        assert_eq!([built()?, built()?], [0, 0]);
        Ok(())
    });
}

/// Kernel that adds a number, which is a constant of its text.
fn adding_kernel(number: i64) -> KernelSource {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> x: array<f32>;
         @compute @workgroup_size(64)
         fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
             let p = x_position(id);
             if x_inside(p) {{ x_store(p, x_load(p) + {number}.0); }}
         }}"
    );
    KernelSource::text("step.wgsl", text)
}

#[test]
fn cached_kernel_texts_are_bounded_by_their_bytes() {
    // The cache holds about 16 texts.
    if support::is_alone() {
        zippy_device::device::set_cache_capacity(4 << 20);
    }
    run_in_separate_process("cached_kernel_texts_are_bounded_by_their_bytes", |world| {
        let x = world.array::<f32, 1>("x", &Layout::new([64]))?;
        let y = world.array::<f32, 1>("y", &Layout::new([64]))?;
        x.fill(1.0)?;
        y.fill(0.0)?;
        let chunk = x.local()?;
        check_memory_is_bounded(world, "kernels", 80, 1 << 20, |time| {
            world.kernel(adding_kernel(time))?.call().update("x", chunk.all()).run()?;
            if time % 16 == 0 { chunk.all().fill(0.0) } else { Ok(()) }
        })?;
        check_memory_is_bounded(world, "expressions", 80, 1 << 20, |time| {
            world.elementwise(format!("x * {time}.5")).call().read("x", x.at(..)).write("y", y.at(..))
        })?;
        check_memory_is_bounded(world, "operators", 80, 1 << 20, |time| {
            let text = format!("fn combine(a: f32, b: f32) -> f32 {{ return a + b * {time}.5; }}");
            world.composite(x.at(..), y.at(..), Operator::custom(format!("own {time}"), text)).map(drop)
        })
    });
}

/// The limit for cached texts is shared by a process. Each of four ranks as threads caches fewer
/// texts than a single rank, unless the ranks use more texts alternately.
#[test]
fn ranks_that_are_threads_share_the_memory_for_texts() {
    let test = "world::kept_memory::ranks_that_are_threads_share_the_memory_for_texts";
    if !support::is_alone() {
        return support::alone(test, &[]);
    }
    // The cache holds about 15 texts.
    zippy_device::device::set_cache_capacity(4 << 20);
    // The run of four ranks comes first, because its devices must have no cached texts.
    support::ranks(&[4, 1], |world| {
        let x = world.array::<f32, 1>("x", &Layout::new([64]).split([Split::Auto]))?;
        let run_all = || -> Result<u64> {
            let before = world.gpu().counters().pipelines_made;
            for number in 0..8 {
                world.kernel(adding_kernel(number))?.call().update("x", x.local()?.all()).run()?;
            }
            Ok(world.gpu().counters().pipelines_made - before)
        };
        run_all()?;
        // A quarter of the limit holds three texts.
        let again = run_all()?;
        assert!(if world.size() == 1 { again == 0 } else { again >= 5 }, "{again} of 8 on {} ranks", world.size());
        assert_eq!(run_all()?, 0, "texts that are used in turn");
        x.fill(0.0)?;
        run_all()?;
        assert_eq!(world.sum(&x)?, 64.0 * 28.0);
        Ok(())
    });
}
