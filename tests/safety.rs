//! What a user can get wrong, and what can go wrong elsewhere: errors on every rank, never a hang or a panic.

mod support;

use std::time::Duration;

use support::RANKS;
use zippy::device::InjectedFailure;
use zippy::kernel::KernelSource;
use zippy::transport::copied;
use zippy::{Config, Error, Layout, Result, Split, World, run_with};

/// The same text on every rank, and what it must say.
fn same_error<R>(world: &World, result: Result<R>, says: &[&str]) -> Result<()> {
    let text = result.err().expect("this must fail").to_string();
    for word in says {
        assert!(text.contains(word), "{word:?} is missing in: {text}");
    }
    let all = world.group().all_gather_v(copied(text.as_bytes()))?;
    assert!(all.iter().all(|other| (**other).as_ref() == text.as_bytes()), "ranks differ: {text}");
    Ok(())
}

#[test]
fn bad_layouts_are_refused_alike() {
    support::ranks(RANKS, |world: &World| {
        same_error(world, world.array::<f32, 2>("a", &Layout::new([-3, 4])), &["-3"])?;
        same_error(world, world.array::<f32, 2>("a", &Layout::new([u64::MAX, 4])), &["18446744073709551615"])?;
        same_error(world, world.array::<f32, 2>("a", &Layout::new([1_i64 << 40, 1 << 40])), &[])?;
        same_error(world, world.array::<f32, 2>("a", &Layout::new([4])), &["2", "1"])?;
        same_error(world, world.array::<f32, 1>("a", &Layout::new([10]).split([[3, 4].into()])), &["7", "10"])?;
        same_error(world, world.array::<f32, 1>("a", &Layout::new([10]).ghost([-1])), &["-1"])?;
        let kept = world.array::<f32, 1>("a", &Layout::new([10]))?;
        same_error(world, world.array::<f32, 1>("a", &Layout::new([10])), &["\"a\"", "alive"])?;
        drop(kept);
        world.array::<f32, 1>("a", &Layout::new([10]))?;
        Ok(())
    });
}

#[test]
fn a_chunk_beyond_a_buffer_is_an_error_that_says_what_fits() {
    support::ranks(RANKS, |world: &World| {
        // Whatever the adapter: no buffer holds 2^42 cells, and nothing is allocated before that is known.
        let layout = Layout::new([1_i64 << 21, 1 << 21]).split([Split::Whole, Split::Whole]);
        same_error(world, world.array::<f32, 2>("large", &layout), &["bytes"])?;
        let local = world.local_array::<f32, 1>("large", &Layout::new([1_i64 << 42]));
        same_error(world, local, &["bytes"])
    });
}

#[test]
fn zero_sized_arrays_are_arrays() {
    support::ranks(RANKS, |world: &World| {
        let layout = Layout::new([0, 5]).split([Split::Even(2), Split::Auto]).ghost([1, 1]).periodic([true, true]);
        let array = world.array::<f32, 2>("nothing", &layout)?;
        world.ghosts(&array)?;
        world.copy(array.at(..), array.at(..))?;
        let ticket = world.get(array.at(..))?;
        assert!(world.fence()?.redeem(ticket)?.is_empty());
        for chunk in array.chunks() {
            assert!(chunk.all().read()?.is_empty());
            chunk.with_ghosts().write(&[])?;
        }
        Ok(())
    });
}

const SCALE: &str = "
@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read_write> target_cells: array<f32>;
@group(0) @binding(2) var<uniform> factor: f32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = target_cells_position(id);
    if target_cells_inside(p) { target_cells_store(p, factor * source_load(p)); }
}";

#[test]
fn kernels_name_what_is_wrong() {
    support::ranks(&[1, 2], |world: &World| {
        let layout = Layout::new([100]).split([Split::Even(world.size())]);
        let a = world.array::<f32, 1>("a", &layout)?;
        let b = world.array::<f32, 1>("b", &layout)?;
        let whole = world.array::<i32, 1>("whole", &layout)?;
        let kernel = world.kernel(KernelSource::text("scale", SCALE))?;
        let (a, b, whole) = (a.local()?, b.local()?, whole.local()?);
        let complete = || kernel.call().read("source", a.all()).write("target_cells", b.all()).param("factor", 2.0_f32);
        let fails = |call: zippy::Result<()>, says: &str| {
            let text = call.expect_err(says).to_string();
            assert!(text.contains(says), "{says:?} is missing in: {text}");
        };
        fails(complete().read("sauce", a.all()).run(), "sauce");
        fails(kernel.call().write("target_cells", b.all()).param("factor", 2.0_f32).run(), "source");
        fails(kernel.call().read("source", whole.all()).write("target_cells", b.all()).param("factor", 2.0_f32).run(), "i32");
        fails(kernel.call().read("source", a.all()).write("target_cells", b.all()).param("factor", 2_i32).run(), "factor");
        fails(kernel.call().read("source", a.all()).write("target_cells", a.all()).param("factor", 2.0_f32).run(), "update");
        fails(kernel.call().read("source", a.at([0..1000])).write("target_cells", b.all()).param("factor", 2.0_f32).run(), "1000");
        let wrong = world.kernel(KernelSource::text("wrong.wgsl", &SCALE.replace("factor *", "faktor *")));
        let text = wrong.err().map_or_else(String::new, |error| error.to_string());
        assert!(text.contains("wrong.wgsl:8:") && text.contains("faktor"), "{text}");
        a.all().write(&vec![1.5; a.all().region()?.cells() as usize])?;
        complete().run()?;
        assert!(b.all().read()?.iter().all(|&cell| cell == 3.0));
        Ok(())
    });
}

/// What every rank of a failing run returned; under MPI only this process' rank.
fn outcomes(ranks: usize, program: impl Fn(&World) -> Result<()> + Send + Sync) -> (Result<Vec<()>>, Vec<Result<()>>) {
    let seen = std::sync::Mutex::new(Vec::new());
    let result = run_with(Config::apart(ranks).timeout(Duration::from_secs(60)), |world| {
        let outcome = program(world);
        seen.lock().unwrap().push((world.rank(), outcome.clone()));
        outcome
    });
    let mut seen = seen.into_inner().unwrap();
    seen.sort_by_key(|(rank, _)| *rank);
    (result, seen.into_iter().map(|(_, outcome)| outcome).collect())
}

#[test]
fn one_rank_that_fails_ends_the_others_with_its_name() {
    for ranks in [2, 3, 5] {
        let (result, outcomes) = outcomes(ranks, |world| {
            let array = world.array::<f32, 1>("array", &Layout::new([100]).split([Split::Even(world.size())]).ghost([1]))?;
            if world.rank() == 1 {
                return Err(Error::program("the input file is missing"));
            }
            world.ghosts(&array)?;
            world.barrier()
        });
        assert_eq!(result.unwrap_err().to_string(), "the input file is missing");
        for (rank, outcome) in outcomes.into_iter().enumerate() {
            let text = outcome.unwrap_err().to_string();
            assert!(text.contains("the input file is missing"), "rank {rank}: {text}");
            assert!(rank == 1 || text.contains("rank 1"), "rank {rank}: {text}");
        }
    }
}

#[test]
fn a_device_that_fails_in_a_collective_ends_all_ranks() {
    let (result, outcomes) = outcomes(3, |world| {
        let array = world.array::<f32, 1>("array", &Layout::new([300]).split([Split::Even(3)]).ghost([1]).periodic([true]))?;
        if world.rank() == 2 {
            world.gpu().inject_failure(InjectedFailure::DeviceLost);
        }
        world.ghosts(&array)?;
        world.barrier()
    });
    assert!(result.is_err());
    for (rank, outcome) in outcomes.into_iter().enumerate() {
        let text = outcome.unwrap_err().to_string();
        assert!(rank == 2 || (text.contains("rank 2") && text.contains("array")), "rank {rank}: {text}");
    }
}

#[test]
fn a_panic_on_one_rank_is_an_error_of_the_run() {
    let (result, outcomes) = outcomes(3, |world| {
        assert!(world.rank() != 1, "a mistake in the program");
        world.barrier()
    });
    let text = result.unwrap_err().to_string();
    assert!(text.contains("rank 1") && text.contains("a mistake in the program"), "{text}");
    assert!(outcomes.iter().all(Result::is_err));
}

#[test]
fn different_calls_are_named() {
    let (result, outcomes) = outcomes(3, |world| {
        let a = world.array::<f32, 1>("A", &Layout::new([30]).split([Split::Even(3)]).ghost([1]))?;
        let b = world.array::<f32, 1>("B", &Layout::new([30]).split([Split::Even(3)]).ghost([1]))?;
        if world.rank() == 1 {
            world.copy(a.at([0..10]), b.at([0..10]))?;
        } else {
            world.ghosts(&b)?;
        }
        Ok(())
    });
    assert!(result.is_err());
    for outcome in outcomes {
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("copy(\"A\"") && text.contains("ghosts(\"B\""), "{text}");
    }
}

#[test]
fn a_call_that_one_rank_leaves_out_is_named() {
    let (result, _) = outcomes(2, |world| if world.rank() == 0 { world.barrier() } else { Ok(()) });
    let text = result.unwrap_err().to_string();
    assert!(text.contains("barrier"), "{text}");
}

#[test]
fn agree_makes_a_local_failure_everybodys_and_goes_on() {
    support::ranks(RANKS, |world: &World| {
        let last = world.size() - 1;
        let own = if world.rank() == last { Err(Error::program("no such file")) } else { Ok(7) };
        let text = world.agree("reading", own).unwrap_err().to_string();
        assert!(text.contains("no such file"), "{text}");
        assert_eq!(world.agree("reading", Ok(7))?, 7);
        world.barrier()
    });
}

support::under_mpi!();
