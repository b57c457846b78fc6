//! Retention and removal of generations.

use std::fs;
use std::path::Path;

use zippy::{Config, Layout, run_with};

use super::{Checkpoints, Contents, directory, flip_byte, is_step, names, save_step};

#[test]
fn last_generations_are_kept() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 2);
    run_with(Config::threads(2), |world| {
        for (number, step) in [1, 2, 3, 4, 5].into_iter().enumerate() {
            save_step(&checkpoints, world, step)?;
            world.barrier()?;
            let first = step.saturating_sub(1).max(1);
            assert_eq!(checkpoints.steps()?, (first..=step).collect::<Vec<_>>(), "{number}");
            world.barrier()?;
        }
        save_step(&checkpoints, world, 5)?;
        world.barrier()?;
        assert_eq!(names(directory.path()), ["step-000000000004.000004", "step-000000000005.000006"]);
        world.barrier()?;
        save_step(&checkpoints, world, 3)?;
        world.barrier()?;
        assert_eq!(checkpoints.steps()?, [3, 5]);
        is_step(&checkpoints.latest(world)?.unwrap(), world, 3)?;
        is_step(&checkpoints.at(world, 5)?, world, 5)
    })
    .unwrap();
}

#[test]
fn damaged_generations_do_not_count() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 2);
    let damage = |name: &str| fs::write(directory.path().join(name).join("rank-000001.cells"), "x").unwrap();
    let save = |step| run_with(Config::threads(2), |world| save_step(&checkpoints, world, step)).unwrap();
    save(1);
    save(2);
    damage("step-000000000002.000002");
    save(3);
    assert_eq!(checkpoints.steps().unwrap(), [1, 2, 3]);
    damage("step-000000000003.000003");
    save(4);
    assert_eq!(checkpoints.steps().unwrap(), [1, 2, 3, 4]);
    save(5);
    assert_eq!(checkpoints.steps().unwrap(), [4, 5]);
}

fn saved(checkpoints: &Checkpoints, step: u64) {
    run_with(Config::threads(2), |world| save_step(checkpoints, world, step)).unwrap();
}

#[test]
fn refused_generations_do_not_count() {
    let directory = directory();
    let checkpoints = || Checkpoints::new(directory.path(), 2);
    let latest_is = |step| {
        run_with(Config::threads(3), |world| is_step(&checkpoints().latest(world)?.unwrap(), world, step)).unwrap();
    };
    let two = directory.path().join("step-000000000002.000002");
    saved(&checkpoints(), 1);
    saved(&checkpoints(), 2);
    flip_byte(&two.join("rank-000001.cells"), 100);
    latest_is(1);
    let reason = fs::read_to_string(two.join("refused.txt")).unwrap();
    assert!(reason.contains("rank-000001.cells, byte 0: bytes 0 to 255 are damaged"), "{reason}");
    saved(&checkpoints(), 3);
    assert_eq!(checkpoints().steps().unwrap(), [1, 2, 3]);
    // The mark is removed after the damage is repaired.
    fs::remove_dir_all(directory.path().join("step-000000000003.000003")).unwrap();
    flip_byte(&two.join("rank-000001.cells"), 100);
    latest_is(2);
    assert!(!two.join("refused.txt").exists());
    saved(&checkpoints(), 4);
    assert_eq!(checkpoints().steps().unwrap(), [2, 4]);
    // A marked generation can be removed.
    flip_byte(&two.join("rank-000001.cells"), 100);
    run_with(Config::threads(2), |world| checkpoints().at(world, 2).map(drop)).unwrap_err();
    saved(&checkpoints(), 5);
    saved(&checkpoints(), 6);
    assert_eq!(checkpoints().steps().unwrap(), [5, 6]);
}

#[test]
fn loaded_generation_stays() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 2);
    (1..=3).for_each(|step| saved(&Checkpoints::new(directory.path(), 3), step));
    run_with(Config::threads(2), |world| is_step(&checkpoints.at(world, 1)?, world, 1)).unwrap();
    saved(&checkpoints.clone(), 4);
    assert_eq!(checkpoints.steps().unwrap(), [1, 3, 4]);
    // A save of the same step does not replace it.
    run_with(Config::threads(2), |world| checkpoints.at(world, 4).map(drop)).unwrap();
    saved(&checkpoints, 4);
    assert_eq!(names(directory.path()), ["step-000000000004.000004", "step-000000000004.000005"]);
    saved(&checkpoints, 6);
    assert_eq!(names(directory.path()), ["step-000000000004.000005", "step-000000000006.000006"]);
}

/// A generation stays after its `wait` has returned.
#[test]
fn two_saves_may_end_in_reverse_order() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 1);
    run_with(Config::threads(2), |world| {
        let one = checkpoints.start(world, 10, &Contents::new().state(&1))?;
        let two = checkpoints.start(world, 20, &Contents::new().state(&2))?;
        two.wait()?;
        one.wait()?;
        world.barrier()?;
        assert_eq!(checkpoints.at(world, 10)?.state::<i32>()?, 1);
        assert_eq!(checkpoints.latest(world)?.unwrap().state::<i32>()?, 2);
        checkpoints.save(world, 30, &Contents::new())
    })
    .unwrap();
    assert_eq!(checkpoints.steps().unwrap(), [30]);
}

fn leftover(directory: &Path, name: &str, file: &str) {
    fs::create_dir(directory.join(name)).unwrap();
    fs::write(directory.join(name).join(file), "x").unwrap();
}

#[test]
fn leftovers_are_removed_and_other_entries_stay() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 1);
    run_with(Config::threads(2), |world| save_step(&checkpoints, world, 1)).unwrap();
    leftover(directory.path(), ".step-000000000007.000003-abcdefABC123.tmp", "rank-000000.cells");
    leftover(directory.path(), ".step-000000000007.000004-abcdefABC123.tmp", "manifest.json");
    leftover(directory.path(), ".number-000005.tmp", "rank-000001.cells");
    let stay = [
        (".step-000000000007.000005-abcdefABC123.tmp", "thesis.txt"),
        (".step-000000000007.000005-abc.tmp", "rank-000000.cells"),
        (".step-000000000007.000005-abcdef_BC123.tmp", "rank-000000.cells"),
        (".step-7.5-abcdefABC123.tmp", "manifest.json"),
        (".number-5.tmp", "manifest.json"),
        ("step-000000000000.000000", "thesis.txt"),
        ("notes", "manifest.json"),
    ];
    stay.iter().for_each(|(name, file)| leftover(directory.path(), name, file));
    fs::write(directory.path().join(".step-000000000007.000003-abcdefABC124.tmp"), "a file").unwrap();
    run_with(Config::threads(2), |world| save_step(&checkpoints, world, 2)).unwrap();
    let found = names(directory.path());
    assert!(stay.iter().all(|(name, _)| found.iter().any(|found| found == name)), "{found:?}");
    assert_eq!(found.len(), stay.len() + 2, "{found:?}");
    // Numbers continue after those of leftovers.
    assert!(found.contains(&"step-000000000002.000006".to_string()), "{found:?}");
    assert_eq!(names(&directory.path().join("step-000000000000.000000")), ["thesis.txt"]);
}

#[test]
fn several_saves_may_be_in_progress() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 2);
    run_with(Config::threads(3), |world| {
        let array = world.array::<u32, 1>("array", &Layout::new([5000]).split([zippy::Split::Even(4)]))?;
        let contents = Contents::new().array(&array);
        let mut pending = Vec::new();
        for step in 1..=3 {
            array.fill(step)?;
            pending.push(checkpoints.start(world, u64::from(step), &contents)?);
        }
        array.fill(4)?;
        // A save keeps the drafts of other saves.
        checkpoints.save(world, 4, &contents)?;
        array.fill(0)?;
        let dropped = pending.remove(1);
        while !pending.iter().all(super::super::PendingSave::is_done) {
            std::thread::yield_now();
        }
        drop(dropped);
        world.barrier()?;
        pending.into_iter().rev().try_for_each(super::super::PendingSave::wait)?;
        world.barrier()?;
        // The generation of the last `wait` also stays, although two later ones are whole.
        assert_eq!(checkpoints.steps()?, [1, 3, 4]);
        for step in [1, 3, 4] {
            checkpoints.at(world, step)?.fill(world, &array)?;
            for chunk in array.chunks() {
                assert!(chunk.all().read()?.iter().all(|&cell| u64::from(cell) == step));
            }
        }
        world.barrier()
    })
    .unwrap();
    run_with(Config::threads(2), |world| save_step(&checkpoints, world, 5)).unwrap();
    assert_eq!(names(directory.path()), ["step-000000000004.000004", "step-000000000005.000005"]);
}

/// A program that ends during a save.
#[test]
fn dropped_saves_leave_no_files() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path().join("run.ckpt"), 1);
    for ranks in [1, 3] {
        run_with(Config::threads(ranks), |world| {
            let array = world.array::<u32, 1>("array", &Layout::new([50_000]).split([zippy::Split::Even(5)]))?;
            let _ = checkpoints.start(world, 9, &Contents::new().array(&array))?;
            Ok(())
        })
        .unwrap();
        assert_eq!(names(checkpoints.directory()), [""; 0]);
    }
}
