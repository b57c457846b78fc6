//! Programs that are killed at any moment: their saved generations are whole.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use zippy::{Config, Error, Layout, Result, Split, World, run_with};

use super::{Checkpoints, Contents, bits, command_for_test, directory, is_step, names, state};

const DIRECTORY: &str = "ZIPPY_IO_KILLED";

/// Limit on the steps of a child, beyond the number before its kill.
const MOST_STEPS: u64 = 100_000;

#[test]
fn a_child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let checkpoints = Checkpoints::new(directory, 2);
    run_with(Config::threads(3), |world| {
        let went = world.rank() > 0 || std::io::stdin().read_line(&mut String::new()).is_ok_and(|bytes| bytes > 0);
        world.agree("going", if went { Ok(()) } else { Err(Error::program("who would kill it has gone")) })?;
        let first = checkpoints.latest(world)?.map_or(1, |found| found.step() + 1);
        (first..first + MOST_STEPS).try_for_each(|step| {
            save(&checkpoints, world, step)?;
            if world.rank() == 0 {
                let mut out = std::io::stdout().lock();
                // The parent may have ended, too.
                let _ = writeln!(out, "saved {step}").and_then(|()| out.flush());
            }
            Ok(())
        })
    })
    .unwrap();
}

/// Like [`super::save_step`], every second time in the background.
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

struct Programs<'a> {
    start: &'a (dyn Fn() -> Command + Sync),
    /// Kills a child; the number of the kill selects the rank, if ranks are processes.
    kill: fn(&mut Child, usize),
    max_unprinted: u64,
}

static THREADS: Programs<'_> =
    Programs { start: &|| command_for_test("kill::a_child"), kill: |child, _| child.kill().unwrap(), max_unprinted: 1 };

fn start_waiting(directory: &Path, programs: &Programs<'_>) -> Child {
    let mut child = (programs.start)();
    child.env(DIRECTORY, directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Lets a child save for a while and kills it; returns the last step that it has reported as saved.
fn kill_after(mut child: Child, after: Duration, kill: impl FnOnce(&mut Child)) -> u64 {
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let saved = |line: String| line.rsplit_once("saved ").and_then(|(_, step)| step.parse::<u64>().ok());
    let first = lines.by_ref().find_map(saved).expect("it saves");
    std::thread::sleep(after);
    kill(&mut child);
    let last = lines.filter_map(saved).last().unwrap_or(first);
    child.wait().unwrap();
    last
}

/// Kills `kills` programs, one after the other; returns the number of leftovers.
fn kill(directory: &Path, programs: &Programs<'_>, kills: usize, mut random: u64) -> usize {
    let checkpoints = Checkpoints::new(directory, 2);
    let (mut left, mut next) = (0, Some(start_waiting(directory, programs)));
    for number in 1..=kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let after = Duration::from_micros((random >> 33) % 30_000);
        let last = kill_after(next.take().unwrap(), after, |child| (programs.kill)(child, number));
        // The next child starts while the leftovers of this one are checked.
        next = (number < kills).then(|| start_waiting(directory, programs));
        left += names(directory).iter().filter(|name| name.starts_with('.')).count();
        run_with(Config::threads(1 + number % 3), |world| {
            let latest = checkpoints.latest(world)?.expect("some were saved");
            assert!(latest.passed_over().is_empty(), "{:?}", latest.passed_over());
            let possible = last..=last + programs.max_unprinted;
            assert!(possible.contains(&latest.step()), "{} and not {possible:?}", latest.step());
            is_step(&latest, world, latest.step())?;
            match latest.step() - 1 {
                0 => Ok(()),
                before => checkpoints.at(world, before).map(drop),
            }
        })
        .unwrap();
    }
    left
}

#[test]
fn fifty_killed_programs_leave_whole_generations() {
    let directories = [directory(), directory()];
    let [one, two] = &directories;
    let left = std::thread::scope(|scope| {
        let other = scope.spawn(|| kill(two.path(), &THREADS, 25, 0x9e37_79b9_7f4a_7c15));
        kill(one.path(), &THREADS, 25, 0x2545_f491_4f6c_dd1d) + other.join().unwrap()
    });
    // Kills during saves left drafts, which the next save removed.
    assert!(left > 5, "{left}");
    for directory in &directories {
        let checkpoints = Checkpoints::new(directory.path(), 2);
        run_with(Config::threads(2), |world| super::save_step(&checkpoints, world, u64::MAX)).unwrap();
        let found = names(directory.path());
        assert!(found.len() == 2 && found.iter().all(|name| name.starts_with("step-")), "{found:?}");
    }
}

/// The launcher ends the other ranks after one is killed.
#[cfg(target_os = "linux")]
#[test]
fn a_rank_under_mpi() {
    use super::launcher;

    let session = launcher::SessionDirectory::new();
    let start = || {
        let mut command = launcher::command(3, &session);
        command.args(super::test_arguments("kill::a_child"));
        command
    };
    let kill_rank = |child: &mut Child, number: usize| {
        let process = launcher::process_of_rank(number % 3, child.id()).expect("the rank runs");
        assert!(Command::new("kill").args(["-KILL", &process.to_string()]).status().unwrap().success());
    };
    if launcher::wanted() {
        let directory = directory();
        // The launcher may lose the last output of the ranks.
        kill(
            directory.path(),
            &Programs { start: &start, kill: kill_rank, max_unprinted: u64::MAX / 2 },
            6,
            0x2545_f491_4f6c_dd1d,
        );
    }
}
