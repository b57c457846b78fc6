//! Tests that mistakes in deliveries are errors on all ranks, move no element, and leave the world
//! usable.

use zippy::error::ErrorKind;
use zippy::world::Destinations;
use zippy::{Config, Layout, Result, Split, World, run_with};

use super::{Case, check, scattered, sections};
use crate::support::launcher::counts;
use crate::support::ranks;

/// Checks that a delivery fails: on the ranks `wrong` with their own error, and on all other ranks
/// with the error of the lowest of them.
fn assert_refused<R: std::fmt::Debug>(world: &World, result: Result<R>, wrong: &[usize], text: &str) -> Result<()> {
    let error = result.unwrap_err();
    assert!(error.to_string().contains(text), "{error} is not {text}");
    match error.kind() {
        ErrorKind::Remote { rank, operation, .. } => {
            assert!(!wrong.contains(&world.rank()), "{error}");
            assert_eq!((*rank, operation.starts_with("deliver(")), (wrong[0], true), "{error}");
        }
        _ => assert!(wrong.contains(&world.rank()), "{error}"),
    }
    // The world is still usable.
    let case = Case { name: "after a mistake", length: |rank| 20 + rank as u64, to: scattered };
    let to = sections(world, "to", &case.ranks(world.rank(), world.size()), 0)?;
    check::<u16>(world, &case, &to[..], 1)
}

#[test]
fn destinations_outside_the_world_are_refused() {
    ranks(&[1, 3], |world| {
        let (rank, size) = (world.rank(), world.size());
        let last = size - 1;
        let own = sections(world, "own", &[1.5_f32; 40], 0)?;
        let mut ranks: Vec<u32> = (0..40).map(|place| place % size as u32).collect();
        if rank == last {
            ranks[33] = size as u32;
            ranks[37] = u32::MAX;
        }
        let to = sections(world, "to", &ranks, 1)?;
        // The second section begins at cell 2 of its array.
        let first = to[0].region()?.cells() as i64;
        let cell = 33 - first + 2;
        let text = format!(
            "cell {cell} of array \"to 1\" names rank {size} as destination, but there are {size} ranks, 0..{size}"
        );
        assert_refused(world, world.deliver("x", &own[..], &to[..]), &[last], &text)?;

        // Every rank has a different mistake.
        let to = sections(world, "to", &[99, 98], 0)?;
        let all: Vec<usize> = (0..size).collect();
        assert_refused(world, world.deliver("x", own[0].clone(), to), &all, "40 cells")?;
        let runs = vec![(0, 39), (size + 4, 1)];
        let text = format!("run 1 of 2 names rank {} as destination", size + 4);
        assert_refused(world, world.deliver("x", &own[..], Destinations::Runs(runs)), &all, &text)
    });
}

#[test]
fn lengths_that_differ() {
    ranks(&[1, 3], |world| {
        let (rank, size) = (world.rank(), world.size());
        let last = size - 1;
        let own = sections(world, "own", &[7_u8; 11], 0)?;
        let to = sections(world, "to", &vec![0_u32; if rank == last { 12 } else { 11 }], 0)?;
        let text = "the list of ranks, section [1..13] of array \"to 0\", has 12 elements, but section [1..12] of array \
                    \"own 0\" has 11 cells";
        assert_refused(world, world.deliver("x", &own[..], &to[..]), &[last], text)?;
        let none: &[zippy::array::LocalSection<u8, 1>] = &[];
        let list = if rank == 0 { none } else { &own[..] };
        let to = sections(world, "to", &[0_u32; 11], 0)?;
        assert_refused(world, world.deliver("x", list, &to[..]), &[0], "but an empty list of sections has 0 cells")?;

        let runs = |more: u64| Destinations::Runs(vec![(0, 5), (last, 6 + if rank == 0 { more } else { 0 })]);
        let text = "the list of 2 runs has 12 elements, but section [1..12] of array \"own 0\" has 11 cells";
        assert_refused(world, world.deliver("x", &own[..], runs(1)), &[0], text)?;
        assert_refused(world, world.deliver("x", &own[..], runs(u64::MAX - 7)), &[0], "the list of 2 runs has")?;

        let short = sections(world, "short", &vec![1.0_f32; if rank == last { 10 } else { 11 }], 0)?;
        let pairs = world.deliver_pairs(["x", "y"], (&own[..], &short[..]), &to[..]);
        let text = "has 11 elements, but section [1..11] of array \"short 0\" has 10 cells";
        assert_refused(world, pairs.map(drop), &[last], text)
    });
}

#[test]
fn sections_that_cannot_be_read() {
    ranks(&[1, 3], |world| {
        let (rank, last) = (world.rank(), world.size() - 1);
        let array = world.local_array::<f32, 1>("array", &Layout::new([10]))?;
        let to = world.local_array::<u32, 1>("to", &Layout::new([10]))?;
        let end = if rank == last { 12 } else { 10 };
        assert_refused(world, world.deliver("x", array.at(2..end), to.at(2..)), &[last], "12")?;
        assert_refused(world, world.deliver("x", array.at(2..), to.at(2..end)), &[last], "12")?;

        let layout = Layout::new([9 * world.size() as i64]).split([Split::Even(world.size())]).ghost([1]);
        let chunks = world.array::<f32, 1>("chunks", &layout)?;
        let chunk = chunks.local()?;
        let section = if rank == last { chunk.boundary() } else { chunk.all() };
        let ranks = to.at(0..section.region()?.cells() as i64);
        assert_refused(
            world,
            world.deliver("x", section, ranks),
            &[last],
            "consists of several boxes; a sequence needs one box",
        )
    });
}

/// Different names or types on the ranks end the run.
#[test]
fn calls_that_differ_end_the_run() {
    for size in counts(&[2, 3]) {
        let ends = |name: &(dyn Fn(usize) -> String + Sync), bytes: bool, text: &str| {
            let error = run_with(Config::threads(size), |world| {
                let (n, name) = (Layout::new([4]), name(world.rank()));
                let to = world.local_array::<u32, 1>("to", &n)?;
                if bytes && world.rank() == size - 1 {
                    world.deliver(&name, world.local_array::<u8, 1>("own", &n)?.all(), to.all()).map(drop)
                } else {
                    world.deliver(&name, world.local_array::<f32, 1>("own", &n)?.all(), to.all()).map(drop)
                }
            });
            let error = error.unwrap_err().to_string();
            assert!(error.contains("collective calls differ") && error.contains(text), "{error}");
        };
        ends(&|_| "x".to_string(), true, "deliver(\"x\" of u8)");
        ends(&|rank| format!("x{}", rank.min(1)), false, "deliver(\"x1\" of f32)");
    }
}

/// Elements for which one rank has no memory.
fn too_much_for_one() {
    ranks(&[1, 3], |world| {
        const MIB: i64 = 1 << 20;
        let own = world.local_array::<u32, 1>("own", &Layout::new([5 * MIB]))?;
        let runs = |to: usize| Destinations::Runs(vec![(to, 5 * MIB as u64)]);
        let last = world.size() - 1;
        let more = if world.rank() == last { 30 * MIB } else { 1 };
        let more = world.local_array::<u8, 1>("more", &Layout::new([more]))?;
        assert_refused(world, world.deliver("x", own.all(), runs(last)), &[last], "storage for x needs")?;
        drop(more);
        let delivered = world.deliver("x", own.all(), runs(world.rank()))?;
        assert_eq!(delivered.elements.len(), 5 * MIB as u64);
        Ok(())
    });
}

zippy_testing::with_variables! {
    little_memory, [("ZIPPY_MEMORY_LIMIT", "67108864")], too_much_for_one
}
