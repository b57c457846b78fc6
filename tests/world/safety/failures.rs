//! Ranks that fail, panic or call different operations: all other ranks get an error with the rank,
//! and no rank waits forever.

use std::sync::Mutex;
use std::time::Duration;

use zippy::error::{DeviceError, ErrorKind, TransportError};
use zippy::{Config, Error, Layout, Operator, Result, Split, World, run_with};
use zippy_device::device::InjectedFailure;

use crate::support::jobs::Ended;
use crate::support::{launcher, ranks};
use zippy_testing::job;

/// Runs a program that fails. Returns the error of each rank of this process.
pub(super) fn failing(
    count: usize,
    set: fn(Config) -> Config,
    program: fn(&World) -> Result<()>,
) -> Vec<(usize, Error)> {
    let errors: Mutex<Vec<(usize, Error)>> = Mutex::default();
    let result = run_with(set(Config::threads(count)), |world| {
        let Err(error) = program(world) else { return Ok(()) };
        if world.group().alive().is_err() {
            // A failed world returns the same error from then on: this error, or an earlier error
            // of another rank.
            let later = world.barrier().unwrap_err();
            assert!(later == error || matches!(later.kind(), ErrorKind::Remote { .. }), "{later}");
            assert_eq!(world.array::<f32, 1>("later", &Layout::new([3])).map(drop), Err(later));
        }
        errors.lock().unwrap().push((world.rank(), error.clone()));
        Err(error)
    });
    assert!(result.is_err(), "the run ended as if nothing had happened");
    let mut errors = errors.into_inner().unwrap();
    errors.sort_by_key(|(rank, _)| *rank);
    errors
}

pub(super) fn as_is(config: Config) -> Config {
    config
}

#[test]
fn error_of_one_rank_ends_run_on_all_ranks() {
    for count in launcher::counts(&[2, 3, 5, 8]) {
        let errors = failing(count, as_is, |world| {
            let array = world.array::<f32, 1>("array", &Layout::new([9]))?;
            // All ranks must have started, so that all get the error.
            world.barrier()?;
            if world.rank() == 1 {
                return Err(Error::program("part-0001.raw is missing"));
            }
            loop {
                world.ghosts(&array)?;
            }
        });
        assert!(launcher::size().is_some() || errors.len() == count);
        for (rank, error) in errors {
            match (rank, error.into_kind()) {
                (1, kind) => assert_eq!(kind, Error::program("part-0001.raw is missing").into_kind()),
                (_, ErrorKind::Remote { rank: 1, message, .. }) => assert_eq!(message, "part-0001.raw is missing"),
                (rank, error) => panic!("rank {rank}: {error}"),
            }
        }
    }
}

#[test]
fn invalid_argument_on_one_rank_ends_collective_on_all_ranks() {
    for count in launcher::counts(&[2, 3, 5]) {
        let errors = failing(count, as_is, |world| {
            let global = world.array::<f32, 1>("global", &Layout::new([9]))?;
            let mine = world.local_array::<f32, 1>("mine", &Layout::new([4]))?;
            // The section of the last rank has a wrong size.
            let cells = if world.rank() + 1 == world.size() { 3 } else { 4 };
            world.copy(global.at(0..cells), mine.all())?;
            world.barrier()
        });
        for (rank, error) in errors {
            let text = error.to_string();
            assert!(text.contains("[0..3]") || text.contains("must agree axis by axis"), "{text}");
            match error.into_kind() {
                ErrorKind::Plan(_) => assert_eq!(rank + 1, count),
                ErrorKind::Remote { rank, operation, .. } => {
                    assert_eq!((rank + 1, operation.as_str()), (count, "copy(\"global\" -> local)"));
                }
                error => panic!("rank {rank}: {error}"),
            }
        }
    }
}

#[test]
fn device_failure_in_transfer_ends_run_on_all_ranks() {
    for count in launcher::counts(&[2, 3]) {
        let errors = failing(count, as_is, |world| {
            let array = world.array::<f32, 1>("array", &Layout::new([9]).ghost([1]).periodic([true]))?;
            world.barrier()?;
            if world.rank() == 1 {
                world.gpu().inject_failure(InjectedFailure::OutOfMemory);
            }
            world.ghosts(&array)?;
            world.barrier()
        });
        for (rank, error) in errors {
            let text = error.to_string();
            assert_eq!(text.matches("ghosts(\"array\")").count(), 1, "{text}");
            match error.into_kind() {
                ErrorKind::Transfer { error: DeviceError::OutOfMemory { .. }, .. } => assert_eq!(rank, 1),
                ErrorKind::Remote { rank: 1, message, .. } => {
                    assert!(message.starts_with("out of memory"), "{message}")
                }
                error => panic!("rank {rank}: {error}"),
            }
        }
    }
}

#[test]
fn agreed_failure_leaves_the_world_usable() {
    ranks(&[1, 2, 3, 5, 8], |world| {
        let last = world.size() - 1;
        assert_eq!(world.agree("open", Ok(world.rank()))?, world.rank());
        let own = if world.rank() == last { Err(Error::program("no such file")) } else { Ok(()) };
        match world.agree("open", own).unwrap_err().into_kind() {
            ErrorKind::Program(message) => assert_eq!((world.rank(), message.as_str()), (last, "no such file")),
            ErrorKind::Remote { rank, operation, message } => {
                assert_eq!((rank, operation.as_str(), message.as_str()), (last, "open", "no such file"));
                assert_ne!(world.rank(), last);
            }
            error => panic!("{error}"),
        }
        // An error with an empty text is also an error.
        let own = if world.rank() == 0 { Err(Error::program("")) } else { Ok(()) };
        world.agree("say nothing", own).unwrap_err();
        let array = world.array::<u8, 1>("array", &Layout::new([9]).ghost([1]).periodic([true]))?;
        world.ghosts(&array).map(drop)
    });
}

fn the_last_rank_panics() -> Result<()> {
    zippy::run(|world| {
        let array = world.array::<f32, 1>("array", &Layout::new([9]))?;
        if world.rank() + 1 == world.size() {
            let none: Vec<u32> = Vec::new();
            assert_eq!(none.len(), 1, "the list of rank {}", world.rank());
        }
        loop {
            world.ghosts(&array)?;
            world.barrier()?;
        }
    })
}

fn one_line_says_it(ended: &Ended) {
    ended.must_have_failed();
    let lines = ended.lines(concat!("zippy: rank 2 panicked at ", file!(), ":"));
    assert!(lines.len() == 1 && lines[0].contains("the list of rank 2"), "{}", ended.text);
}

job!(a_rank_panics, 3, the_last_rank_panics, one_line_says_it);

fn the_last_rank_fails() -> Result<()> {
    zippy::run(|world| {
        let array = world.array::<f32, 1>("array", &Layout::new([9]))?;
        if world.rank() + 1 == world.size() {
            return Err(Error::program("part-0002.raw is missing"));
        }
        loop {
            world.ghosts(&array)?;
        }
    })
}

job!(a_failure_is_one_line, 3, the_last_rank_fails, |ended: &Ended| {
    ended.must_have_failed();
    assert_eq!(ended.lines("part-0002.raw is missing").len(), 1, "{}", ended.text);
});

/// Program in which the last rank calls another operation, and the names of both calls.
type Apart = (fn(&World, bool) -> Result<()>, &'static str, &'static str);

const APART: [Apart; 6] = [
    (
        |world, other| {
            let a = world.array::<f32, 1>("a", &Layout::new([9]))?;
            if other { world.ghosts(&a).map(drop) } else { world.copy(a.at(0..3), a.at(4..7)).map(drop) }
        },
        "copy(\"a\" [0..3] -> \"a\" [4..7])",
        "ghosts(\"a\")",
    ),
    (
        |world, other| {
            let a = world.array::<f32, 1>("a", &Layout::new([9]))?;
            let end = if other { 4 } else { 3 };
            world.composite(a.at(0..end), a.at(0..end), Operator::Add).map(drop)
        },
        "composite(\"a\" [0..3] -> \"a\" [0..3], add)",
        "composite(\"a\" [0..4] -> \"a\" [0..4], add)",
    ),
    (
        |world, other| world.array::<f32, 1>(if other { "b" } else { "a" }, &Layout::new([9])).map(drop),
        "array(\"a\", ",
        "array(\"b\", ",
    ),
    (
        |world, other| {
            let layout = Layout::new([4 * world.size() as i64]).split([Split::Even(world.size())]);
            let a = world.array::<f32, 1>("a", &layout)?;
            let mut order: Vec<usize> = (0..world.size()).collect();
            if other {
                order.reverse();
            }
            let a = a.reassigned(&order)?;
            world.copy(a.at(0..2), a.at(2..4)).map(drop)
        },
        "reassigned(\"a\" (f32 of ",
        ", owners [",
    ),
    (
        |world, other| if other { world.fence().map(drop) } else { world.barrier() },
        "barrier",
        "fence() with 0 array handles made",
    ),
    (|world, other| if other { Ok(()) } else { world.debug_point("here") }, "debug_point(\"here\")", "nothing more"),
];

#[test]
fn different_collectives_return_error_with_both_names() {
    for (count, check) in launcher::counts(&[2, 3, 5]).into_iter().flat_map(|count| [(count, true), (count, false)]) {
        for (program, first, second) in APART {
            let errors: Mutex<Vec<String>> = Mutex::default();
            let result = run_with(Config::threads(count).check(check), |world| {
                let result = program(world, world.rank() + 1 == world.size());
                errors.lock().unwrap().extend(result.as_ref().err().map(ToString::to_string));
                result
            });
            let mut texts = errors.into_inner().unwrap();
            texts.extend(result.err().map(|error| error.to_string()));
            assert!(!texts.is_empty(), "{first} and {second} went together");
            for text in texts {
                let first_rank = if check { "rank 0 called " } else { "rank " };
                assert!(text.contains(&format!("collective calls differ: {first_rank}")), "{text}");
                assert!(text.contains(first) && text.contains(second), "{text}");
                assert!(text.contains(&format!("rank {} called", count - 1)), "{text}");
            }
        }
    }
}

#[test]
fn wait_over_the_limit_names_the_awaited_rank() {
    let patience = |config: Config| config.timeout(Duration::from_millis(300)).warn_after(Duration::from_millis(50));
    for count in launcher::counts(&[2, 3]) {
        let errors = failing(count, patience, |world| {
            let array = world.array::<f32, 1>("array", &Layout::new([9]))?;
            if world.rank() == 0 {
                // Busy until it gets the error of another rank.
                loop {
                    world.group().alive()?;
                    std::thread::yield_now();
                }
            }
            world.copy(array.at(0..4), array.at(5..9))?;
            world.barrier()
        });
        for (rank, error) in errors {
            let text = error.to_string();
            assert!(text.contains("0.3 s") && text.contains("rank 0 in") || rank > 1, "{text}");
            assert!(text.contains("copy(\"array\" [0..4] -> \"array\" [5..9])"), "{text}");
            if let ErrorKind::Remote { operation, .. } = error.kind() {
                assert!(operation.contains("copy("), "the others hear of it by the call, not {operation:?}");
            }
        }
    }
}

#[test]
fn failure_is_received_before_started_transfers() {
    for count in launcher::counts(&[2, 3, 5]) {
        let errors = failing(count, as_is, |world| {
            let array = world.array::<f32, 1>("array", &Layout::new([9]).ghost([1]).periodic([true]))?;
            let halo = world.start_ghosts(&array)?;
            let dropped = world.start_copy(array.at(0..4), array.at(5..9))?;
            if world.rank() == 0 {
                // Pending transfers are dropped in a failed world.
                return Err(Error::program("enough"));
            }
            while world.group().alive().is_ok() {
                std::thread::yield_now();
            }
            drop(dropped);
            halo.wait()?;
            world.barrier()
        });
        for (rank, error) in errors {
            assert!(rank == 0 || matches!(error.kind(), ErrorKind::Remote { rank: 0, .. }), "{error}");
            assert!(error.to_string().contains("enough"), "{error}");
        }
    }
}

#[test]
fn request_for_dropped_array_is_an_error() {
    for count in launcher::counts(&[2, 3]) {
        let errors = failing(count, as_is, |world| {
            let array = world.array::<f32, 1>("array", &Layout::new([9]).split([Split::Whole]))?;
            // Rank 0 owns the cells and drops the array; the last rank still requests them.
            if world.rank() + 1 == world.size() {
                world.put(&[1.0; 9], array.at(..))?;
            }
            drop(array);
            world.fence()?;
            world.barrier()
        });
        for (_, error) in errors {
            assert!(error.to_string().contains("keep arrays alive on all ranks until the fence"), "{error}");
        }
    }
}

zippy_testing::with_variables! {
    no_adapter, [
        ("VK_ICD_FILENAMES", "/nonexistent"), ("VK_DRIVER_FILES", "/nonexistent"), ("ZIPPY_KERNELS", "driver"),
    ], || {
        for count in launcher::counts(&[1, 3]) {
            let error = run_with(Config::threads(count), |world| world.barrier()).unwrap_err().to_string();
            assert!(error.contains("apt install mesa-vulkan-drivers"), "{error}");
        }
    }
}

zippy_testing::with_variables! {
    an_adapter_that_is_not_there, [("ZIPPY_ADAPTER", "Voodoo 7")], || {
        for count in launcher::counts(&[1, 3]) {
            let error = run_with(Config::threads(count), |world| world.barrier()).unwrap_err().to_string();
            assert!(error.contains("no adapter matches \"Voodoo 7\"") && error.contains("0: "), "{error}");
        }
    }
}

/// A build without MPI under a launcher would create one world per process.
#[cfg(not(feature = "mpi"))]
#[test]
fn launcher_without_mpi_is_refused() {
    use crate::support::jobs::{self, Carrier};

    let test = jobs::test(module_path!(), "launcher_without_mpi_is_refused");
    const LAUNCHERS: [(&str, &str); 3] = [("OMPI_COMM_WORLD_SIZE", "4"), ("PMI_RANK", "0"), ("PMIX_RANK", "2")];
    let played = jobs::play(&test, || {
        let error = run_with(Config::new(), |_| Ok(())).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Transport(TransportError::NeedsMpi { .. })), "{error}");
        let text = error.to_string();
        let (variable, value) = LAUNCHERS.iter().find(|(name, _)| std::env::var_os(name).is_some()).unwrap();
        assert!(text.contains("--features mpi") && text.contains(&format!("({variable}={value})")), "{text}");
        Ok(())
    });
    if !played {
        LAUNCHERS.iter().for_each(|set| jobs::must_pass(Carrier::Threads, &[1], &test, &[*set]));
    }
}

/// The launcher is wrong or missing: one process for several requested ranks.
#[cfg(feature = "mpi")]
#[test]
fn more_ranks_than_launched_processes_are_refused() {
    let Some(started) = launcher::size() else { return };
    let error = run_with(Config::threads(started + 1), |_| Ok(())).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Transport(TransportError::RankCount { .. })), "{error}");
}
