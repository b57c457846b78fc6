//! Damaged generations: a changed byte, or a truncated or missing file, is found and named, and the
//! previous generation is used.

use std::fs;

use zippy::{Config, Result, World, run_with};

use super::{Checkpoints, directory, flip_byte, is_step, names, save_step, state};
use crate::checkpoint::sizes::BLOCK_BYTES;

const LAST: &str = "step-000000000030.000003";

fn three_steps(checkpoints: &Checkpoints) {
    run_with(Config::threads(3), |world| {
        [10, 20, 30].into_iter().try_for_each(|step| save_step(checkpoints, world, step))
    })
    .unwrap();
}

/// Checks that the damaged generation is refused with `wanted`, and that the error names the
/// previous one.
fn refused(checkpoints: &Checkpoints, world: &World, wanted: &str) -> Result<()> {
    world.barrier()?;
    let Err(error) = checkpoints.at(world, 30) else { panic!("{wanted} was not found") };
    let error = error.to_string();
    assert!(error.contains("step 30 cannot be used: ") && error.contains(wanted), "{error}, not {wanted}");
    assert!(error.contains("the whole one before it is of step 20"), "{error}");
    world.barrier()
}

/// Checks that `latest` also skips the damaged generation and loads the previous one.
fn passed_over(checkpoints: &Checkpoints, world: &World, wanted: &str) -> Result<()> {
    let latest = checkpoints.latest(world)?.expect("two are whole");
    is_step(&latest, world, 20)?;
    let [passed] = latest.passed_over() else { panic!("{:?}", latest.passed_over()) };
    assert_eq!((passed.step, passed.directory.file_name().unwrap().to_str()), (30, Some(LAST)));
    assert!(passed.reason.contains(wanted), "{}, not {wanted}", passed.reason);
    world.barrier()
}

fn on_rank_0(world: &World, act: impl FnOnce()) {
    if world.rank() == 0 {
        act();
    }
}

#[test]
fn flipped_byte_in_each_part_is_found() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 3);
    three_steps(&checkpoints);
    let last = directory.path().join(LAST);
    let files = names(&last);
    assert_eq!(
        files,
        ["manifest.json", "rank-000000.cells", "rank-000001.cells", "rank-000002.cells", "state.msgpack"]
    );
    let lengths: Vec<usize> = files.iter().map(|name| fs::metadata(last.join(name)).unwrap().len() as usize).collect();
    for ranks in [1, 2, 5] {
        run_with(Config::threads(ranks), |world| {
            for (name, &length) in files.iter().zip(&lengths) {
                let path = last.join(name);
                let mut some = vec![length / 2 + ranks];
                if ranks == 1 {
                    some.extend((0..length).step_by(1 + length / 11).chain([1, 20, length - 1]));
                }
                for at in some.into_iter().filter(|&at| at < length) {
                    on_rank_0(world, || flip_byte(&path, at));
                    let block = at as u64 / BLOCK_BYTES * BLOCK_BYTES;
                    let place = if name == "manifest.json" {
                        "byte ".into()
                    } else {
                        format!("byte {block}: bytes {block} to")
                    };
                    let wanted = format!("{name}, {place}");
                    refused(&checkpoints, world, &wanted)?;
                    if at == 1 || ranks > 1 {
                        passed_over(&checkpoints, world, &wanted)?;
                    }
                    on_rank_0(world, || flip_byte(&path, at));
                    world.barrier()?;
                }
            }
            world.barrier()?;
            is_step(&checkpoints.at(world, 30)?, world, 30)
        })
        .unwrap();
    }
}

#[test]
fn wrong_lengths_and_missing_files_are_found() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 3);
    three_steps(&checkpoints);
    let last = directory.path().join(LAST);
    run_with(Config::threads(3), |world| {
        for name in names(&last) {
            let path = last.join(&name);
            let whole = fs::read(&path).unwrap();
            world.barrier()?;
            let manifest = name == "manifest.json";
            let wanted =
                |wanted: &str| if manifest { format!("{name}, byte ") } else { format!("{name}, byte {wanted}") };
            let length = whole.len();
            for less in [length - 1, length / 2, 0] {
                on_rank_0(world, || fs::write(&path, &whole[..less]).unwrap());
                refused(&checkpoints, world, &wanted(&format!("{less}: the data end after {less} of {length} bytes")))?;
            }
            on_rank_0(world, || fs::write(&path, [&*whole, b"\n"].concat()).unwrap());
            refused(&checkpoints, world, &wanted(&format!("{length}: data go on after the {length} bytes")))?;
            on_rank_0(world, || fs::remove_file(&path).unwrap());
            refused(&checkpoints, world, &format!("{name}: cannot open"))?;
            passed_over(&checkpoints, world, &format!("{name}: cannot open"))?;
            on_rank_0(world, || fs::create_dir(&path).unwrap());
            refused(&checkpoints, world, &format!("{name}: is not a regular file"))?;
            on_rank_0(world, || {
                fs::remove_dir(&path).unwrap();
                fs::write(&path, &whole).unwrap();
            });
            world.barrier()?;
        }
        let swap = || {
            let (a, b) = (last.join("rank-000001.cells"), last.join("rank-000002.cells"));
            fs::rename(&a, last.join("x"))
                .and_then(|()| fs::rename(&b, &a))
                .and_then(|()| fs::rename(last.join("x"), b))
                .unwrap();
        };
        on_rank_0(world, swap);
        refused(&checkpoints, world, "rank-000001.cells, byte ")?;
        on_rank_0(world, swap);
        world.barrier()?;
        is_step(&checkpoints.latest(world)?.unwrap(), world, 30)
    })
    .unwrap();
}

#[test]
fn damage_after_opening_is_found_by_reads() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 3);
    three_steps(&checkpoints);
    run_with(Config::threads(2), |world| {
        let checkpoint = checkpoints.at(world, 30)?;
        world.barrier()?;
        on_rank_0(world, || flip_byte(&checkpoint.directory().join("rank-000001.cells"), 0));
        world.barrier()?;
        let error = checkpoint.array::<f32, 2>(world, "array", zippy::Layout::new).unwrap_err().to_string();
        assert!(error.contains("rank-000001.cells, byte 0: bytes 0 to 255 are damaged"), "{error}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn directory_without_whole_generation_is_an_error() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 3);
    run_with(Config::threads(2), |world| {
        assert!(Checkpoints::new(directory.path().join("no"), 1).latest(world)?.is_none());
        assert!(checkpoints.latest(world)?.is_none());
        let Err(error) = checkpoints.at(world, 3) else { panic!("there is none") };
        assert!(error.to_string().contains("no checkpoint of step 3; it holds none"), "{error}");
        save_step(&checkpoints, world, 10)?;
        save_step(&checkpoints, world, 20)?;
        let Err(error) = checkpoints.at(world, 3) else { panic!("there is none") };
        assert!(error.to_string().contains("no checkpoint of step 3; there are 10, 20"), "{error}");
        world.barrier()?;
        on_rank_0(world, || {
            fs::write(directory.path().join("step-000000000010.000001/manifest.json"), "{}").unwrap();
            fs::remove_file(directory.path().join("step-000000000020.000002/state.msgpack")).unwrap();
        });
        world.barrier()?;
        let Err(error) = checkpoints.latest(world) else { panic!("none is whole") };
        let error = error.to_string();
        for wanted in
            ["none of the checkpoints in it (2) is whole: step 20: ", "state.msgpack: cannot open", "step 10: "]
        {
            assert!(error.contains(wanted), "{error}, not {wanted}");
        }
        let Err(error) = checkpoints.at(world, 20) else { panic!("it is not whole") };
        assert!(error.to_string().contains("no whole one is before it"), "{error}");
        Ok(())
    })
    .unwrap();
}

/// An operating system error on any rank is not damage: no older step is loaded silently.
#[cfg(unix)]
#[test]
fn unreadable_file_is_an_error_and_not_damage() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 3);
    three_steps(&checkpoints);
    let last = directory.path().join(LAST);
    for name in ["manifest.json", "rank-000001.cells", "state.msgpack"] {
        let (path, aside) = (last.join(name), directory.path().join("aside"));
        fs::rename(&path, &aside).unwrap();
        // A link to itself cannot be opened by any user, root included.
        std::os::unix::fs::symlink(name, &path).unwrap();
        run_with(Config::threads(3), |world| {
            for opened in [checkpoints.latest(world).map(drop), checkpoints.at(world, 30).map(drop)] {
                let error = opened.expect_err("it is not known whether it is whole").to_string();
                assert!(error.contains(&format!("{name}: cannot open")), "{error}");
            }
            is_step(&checkpoints.at(world, 20)?, world, 20)
        })
        .unwrap();
        assert!(!names(&last).contains(&"refused.txt".to_string()));
        fs::rename(&aside, &path).unwrap();
    }
    run_with(Config::threads(2), |world| is_step(&checkpoints.latest(world)?.unwrap(), world, 30)).unwrap();
}

#[test]
fn state_is_read_when_the_checkpoint_is_opened() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 3);
    three_steps(&checkpoints);
    run_with(Config::threads(3), |world| {
        let checkpoint = checkpoints.at(world, 30)?;
        world.barrier()?;
        on_rank_0(world, || fs::remove_file(checkpoint.directory().join("state.msgpack")).unwrap());
        world.barrier()?;
        assert_eq!(checkpoint.state::<super::State>()?, state(30));
        let error = checkpoint.state::<u8>().unwrap_err().to_string();
        assert!(error.contains("the state is none of the wanted type"), "{error}");
        Ok(())
    })
    .unwrap();
}
