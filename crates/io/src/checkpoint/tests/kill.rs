//! Programs that are killed at any moment: what they had saved is there, whole.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::Duration;

use zippy::{Config, Layout, Result, Split, World, run_with};

use super::{Checkpoints, Contents, again, bits, directory, is_step, names, state};

const DIRECTORY: &str = "ZIPPY_IO_KILLED";

/// More than a child that nobody kills would be allowed.
const MOST_STEPS: u64 = 100_000;

#[test]
fn a_child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let checkpoints = Checkpoints::new(directory, 2);
    run_with(Config::threads(3), |world| {
        let first = checkpoints.latest(world)?.map_or(1, |found| found.step() + 1);
        (first..first + MOST_STEPS).try_for_each(|step| {
            save(&checkpoints, world, step)?;
            if world.rank() == 0 {
                let mut out = std::io::stdout().lock();
                // Who has killed it may have gone, too.
                let _ = writeln!(out, "saved {step}").and_then(|()| out.flush());
            }
            Ok(())
        })
    })
    .unwrap();
}

/// As [`super::save_step`], every other time in the background.
fn save(checkpoints: &Checkpoints, world: &World, step: u64) -> Result<()> {
    if step.is_multiple_of(2) {
        return super::save_step(checkpoints, world, step);
    }
    let array = world.array::<f32, 2>("array", &Layout::new([31, 17]).split_all(Split::Auto))?;
    array.fill_with(|at| f32::from_bits(bits(step, &at)))?;
    let mut list = world.growable::<u16>("list")?;
    list.append(&vec![step as u16; 100 * world.rank()])?;
    let contents = Contents::new().array(&array).growable(&list).state(&state(step));
    let pending = checkpoints.start(world, step, &contents)?;
    array.fill(0.0)?;
    pending.wait()
}

/// Lets a child save for a while and kills it: the last step of which it has said that it was saved.
fn killed(child: &mut Child, after: Duration) -> u64 {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let saved = |line: String| line.rsplit_once("saved ").and_then(|(_, step)| step.parse::<u64>().ok());
    let first = lines.by_ref().find_map(saved).expect("it saves");
    std::thread::sleep(after);
    child.kill().unwrap();
    let last = lines.filter_map(saved).last().unwrap_or(first);
    child.wait().unwrap();
    last
}

#[test]
fn fifty_kills() {
    let directory = directory();
    let checkpoints = Checkpoints::new(directory.path(), 2);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut left = 0;
    for number in 0..50 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = again("kill::a_child");
        let mut child =
            child.env(DIRECTORY, directory.path()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let last = killed(&mut child, Duration::from_micros((random >> 33) % 30_000));
        left += names(directory.path()).iter().filter(|name| name.starts_with('.')).count();
        run_with(Config::threads(1 + number % 3), |world| {
            let latest = checkpoints.latest(world)?.expect("some were saved");
            assert!(latest.passed_over().is_empty(), "{:?}", latest.passed_over());
            assert!((last..=last + 1).contains(&latest.step()), "{} after {last}", latest.step());
            is_step(&latest, world, latest.step())?;
            // The one before it is there, too.
            match latest.step() - 1 {
                0 => Ok(()),
                before => is_step(&checkpoints.at(world, before)?, world, before),
            }
        })
        .unwrap();
    }
    // They were killed in the middle of saves: the next one takes away what they left.
    assert!(left > 5, "{left}");
    run_with(Config::threads(2), |world| super::save_step(&checkpoints, world, u64::MAX)).unwrap();
    let found = names(directory.path());
    assert!(found.len() == 2 && found.iter().all(|name| name.starts_with("step-")), "{found:?}");
}
