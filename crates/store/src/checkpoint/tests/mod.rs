//! Checkpoints: the same bits on any number of ranks and with any cuts, detection of damage, and
//! killed programs.

mod damage;
mod failures;
mod full;
mod generations;
mod hostile;
mod kill;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../../../testing/src/launcher.rs"]
#[allow(dead_code, reason = "other tests need the rest of it")]
mod launcher;
mod round_trip;
mod runs;
mod swaps;

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};
use zippy::{Layout, Result, Split, World};

use super::names::LOCK;
use super::{Checkpoint, Checkpoints, Contents};

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != LOCK);
    names.sort();
    names
}

fn flip_byte(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 1 << (at % 8);
    std::fs::write(path, bytes).unwrap();
}

fn command_for_test(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(test_arguments(test));
    command
}

fn test_arguments(test: &str) -> [String; 3] {
    ["--exact".into(), format!("checkpoint::tests::{test}"), "--nocapture".into()]
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct State {
    step: u64,
    time: f64,
    names: Vec<String>,
}

fn state(step: u64) -> State {
    State { step, time: step as f64 / 3.0, names: vec!["a".into(); 3] }
}

/// Bits of a cell at a step, bit patterns of NaN included.
fn bits(step: u64, at: &[i64]) -> u32 {
    let place = at.iter().rev().fold(step, |sum, &x| sum.wrapping_mul(1_000_003).wrapping_add(x as u64 + 1));
    (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

fn save_step(checkpoints: &Checkpoints, world: &World, step: u64) -> Result<()> {
    let array = world.array::<f32, 2>("array", &Layout::new([31, 17]).split_all(Split::Auto).ghost([1, 1]))?;
    array.fill_with(|at| f32::from_bits(bits(step, &at)))?;
    let mut list = world.growable::<u16>("list")?;
    list.append(&vec![step as u16; 100 * world.rank()])?;
    checkpoints.save(world, step, &Contents::new().array(&array).growable(&list).state(&state(step)))
}

fn is_step(checkpoint: &Checkpoint, world: &World, step: u64) -> Result<()> {
    assert_eq!((checkpoint.step(), checkpoint.state::<State>()?), (step, state(step)));
    let array = checkpoint.array::<f32, 2>(world, "array", |shape| Layout::new(shape).split_all(Split::Even(2)))?;
    assert_eq!(array.shape(), [31, 17]);
    for chunk in array.chunks() {
        let found: Vec<u32> = chunk.all().read()?.into_iter().map(f32::to_bits).collect();
        let expected: Vec<u32> = chunk.region().points().map(|at| bits(step, &[at[0], at[1]])).collect();
        assert_eq!(found, expected);
    }
    let list = checkpoint.growable::<u16>(world, "list")?;
    assert!(list.all().read()?.iter().all(|&cell| cell == step as u16));
    let all = (0..checkpoint.ranks() as u64).map(|rank| 100 * rank).sum::<u64>();
    assert_eq!(world.publish(&list)?.shape(), [all as i64]);
    Ok(())
}
