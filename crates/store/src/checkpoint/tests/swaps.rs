//! Double buffers that are swapped an odd number of times: a checkpoint uses the names that the
//! program gives.

use zippy::error::ErrorKind;
use zippy::{Config, GlobalArray, Layout, Result, Split, World, run_with};

use super::{Checkpoint, Checkpoints, Contents, bits, directory};

const SHAPE: [i64; 2] = [31, 17];

fn layout() -> Layout {
    Layout::new(SHAPE).split_all(Split::Auto).ghost([1, 1])
}

/// Takes steps; each writes the other buffer and swaps both. Saves after the last step.
fn run(world: &World, checkpoints: &Checkpoints, steps: u64, is_named: bool) -> Result<()> {
    let mut now = world.array::<u32, 2>("now", &layout())?;
    let mut next = world.array::<u32, 2>("next", &layout())?;
    let [mut list, mut other] = [world.growable::<u64>("list")?, world.growable::<u64>("other")?];
    for step in 1..=steps {
        next.fill_with(|at| bits(step, &at))?;
        other.clear();
        other.append(&vec![step; 3 * world.rank() + 1])?;
        std::mem::swap(&mut now, &mut next);
        std::mem::swap(&mut list, &mut other);
    }
    let contents = if is_named {
        Contents::new().array_as("now", &now).growable_as("list", &list)
    } else {
        Contents::new().array(&now).growable(&list)
    };
    checkpoints.save(world, steps, &contents)
}

fn is_step(array: &GlobalArray<u32, 2>, step: u64) -> Result<()> {
    for chunk in array.chunks() {
        let expected: Vec<u32> = chunk.region().points().map(|at| bits(step, &[at[0], at[1]])).collect();
        assert_eq!(chunk.all().read()?, expected, "step {step}");
    }
    Ok(())
}

/// Reads the field and the list by their saved names, and also into an array of another name.
fn restart(world: &World, checkpoint: &Checkpoint, ranks: u64) -> Result<()> {
    let step = checkpoint.step();
    is_step(&checkpoint.array::<u32, 2>(world, "now", |_| layout())?, step)?;
    let restarted = world.array::<u32, 2>("restarted", &layout())?;
    checkpoint.fill_as(world, "now", &restarted)?;
    is_step(&restarted, step)?;
    let list = checkpoint.growable::<u64>(world, "list")?;
    assert!(list.all().read()?.iter().all(|&cell| cell == step));
    let cells = (0..ranks).map(|rank| 3 * rank + 1).sum::<u64>();
    assert_eq!(world.publish(&list)?.shape(), [cells as i64]);
    Ok(())
}

#[test]
fn arrays_swapped_any_number_of_times_restart_under_given_names() {
    for (ranks, later) in [(1, 3), (3, 5), (5, 1)] {
        for steps in [1, 2, 3] {
            let directory = directory();
            let checkpoints = Checkpoints::new(directory.path(), 1);
            run_with(Config::threads(ranks), |world| run(world, &checkpoints, steps, true)).unwrap();
            run_with(Config::threads(later), |world| {
                let checkpoint = checkpoints.latest(world)?.unwrap();
                assert_eq!((checkpoint.step(), checkpoint.ranks()), (steps, ranks));
                restart(world, &checkpoint, ranks as u64)
            })
            .unwrap();
        }
    }
}

/// Without given names, the error of a restart names the array with the wanted type and axes, on
/// every rank.
#[test]
fn array_saved_under_the_other_name_is_named_by_the_error_of_a_restart() {
    for ranks in [1, 3, 5] {
        let directory = directory();
        let checkpoints = Checkpoints::new(directory.path(), 1);
        run_with(Config::threads(ranks), |world| run(world, &checkpoints, 3, false)).unwrap();
        run_with(Config::threads(ranks), |world| {
            let checkpoint = checkpoints.latest(world)?.unwrap();
            let now = world.array::<u32, 2>("now", &layout())?;
            let hint = "An array keeps its own name when variables are swapped (`mem::swap`): `Contents::array_as`";
            let expect = |result: Result<()>, parts: [&str; 2]| {
                let Err(error) = result else { panic!("no error: {parts:?}") };
                let text = match error.kind() {
                    ErrorKind::Remote { message, .. } => message.clone(),
                    kind => kind.to_string(),
                };
                for part in parts.into_iter().filter(|part| !part.is_empty()) {
                    assert!(text.contains(part), "rank {}: {text}, not {part}", world.rank());
                }
                assert_eq!(text.contains("mem::swap"), !parts[1].is_empty(), "{text}");
            };
            let there = "has no array called \"now\"; it has \"next\" (u32, 31 x 17)";
            let named = format!("; of the wanted type and number of axes: \"next\". {hint}");
            expect(checkpoint.fill(world, &now), [there, &named]);
            expect(checkpoint.array::<u32, 2>(world, "old", |_| layout()).map(drop), ["called \"old\"", &named]);
            // No array with the wanted type exists, so none is suggested.
            expect(checkpoint.array::<u32, 1>(world, "now", Layout::new).map(drop), [there, ""]);
            expect(checkpoint.array::<f32, 2>(world, "now", |_| layout()).map(drop), [there, ""]);
            let there = "has no growable array called \"list\"; it has \"other\" (u64)";
            let named = format!("; of the wanted type and number of axes: \"other\". {hint}");
            expect(checkpoint.growable::<u64>(world, "list").map(drop), [there, &named]);
            expect(checkpoint.growable::<i64>(world, "list").map(drop), [there, ""]);
            checkpoint.fill_as(world, "next", &now)?;
            is_step(&now, 3)
        })
        .unwrap();
    }
}
