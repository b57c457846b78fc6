//! Runs that end before their last step keep their results.

use std::path::Path;
use std::process::Command;

use super::running::{Running, kill};

/// Number of frames in the header of a movie, and number of readable frames.
fn frame_counts(path: &Path) -> (u32, usize) {
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap())).read_info().unwrap();
    let declared = reader.info().animation_control.unwrap().num_frames;
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let read = (0..declared).take_while(|_| reader.next_frame(&mut bytes).is_ok()).count();
    assert!(reader.finish().is_ok());
    (declared, read)
}

fn start(directory: &Path, options: &str) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbm"));
    command.args(options.split_whitespace()).current_dir(directory).env_remove("ZIPPY_RANKS");
    Running::start(command)
}

const ENDLESS: &str = "--ranks 2 --case cylinder --n 4 --steps 100000000 --every 20 --render speed --output flow.apng";

#[test]
fn movie_is_complete_after_signals() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("flow.apng");
    for signal in ["INT", "TERM"] {
        let mut running = start(directory.path(), &format!("{ENDLESS} --forces table.csv --json"));
        running.wait("some steps", || {
            // The table has one line for each picture.
            let table = std::fs::read_to_string(directory.path().join("table.csv")).unwrap_or_default();
            (table.lines().count() > 8).then_some(())
        });
        kill(signal, running.id());
        let output = running.wait_for_end();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("\"ended_by\":\"signal\""), "{text}");
        let (declared, read) = frame_counts(&file);
        assert!(declared as usize == read && read > 3, "{declared} {read}");
        std::fs::remove_file(&file).unwrap();
        std::fs::remove_file(directory.path().join("table.csv")).unwrap();
    }
}

#[test]
fn movie_is_complete_after_time_budget_and_after_instability() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("flow.apng");
    let output = start(directory.path(), &format!("{ENDLESS} --budget 1")).wait_for_end();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("time budget used"));
    let (declared, read) = frame_counts(&file);
    assert!(declared as usize == read && read > 1, "{declared} {read}");
    std::fs::remove_file(&file).unwrap();

    let unstable = ENDLESS.replace("100000000", "4000").replace("--n 4", "--n 4 --re 1e9 --speed 0.1");
    let output = start(directory.path(), &unstable).wait_for_end();
    assert!(String::from_utf8_lossy(&output.stderr).contains("has become unstable"), "{output:?}");
    let (declared, read) = frame_counts(&file);
    assert!(declared as usize == read && read > 1, "{declared} {read}");
}

#[test]
fn checkpoints_of_another_run_are_refused_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let run = |options: &str| start(directory.path(), &format!("--ranks 2 {options}")).wait_for_end();
    assert!(run("--case cavity2d --n 12 --steps 3 --checkpoint ck").status.success());
    for other in ["--case couette --n 8 --steps 2", "--case cavity2d --n 12 --steps 3"] {
        let output = run(&format!("{other} --checkpoint ck"));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let wanted =
            "it has checkpoints of the case cavity2d, the latest of step 3, which those of this run would replace";
        assert!(!output.status.success() && error.contains(wanted), "{error}");
    }
    let output = run("--restart ck --steps 5 --checkpoint ./ck");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(run("--restart ck --steps 2 --checkpoint other").status.success());
    let output = run("--restart other --steps 2 --checkpoint ck");
    assert!(String::from_utf8_lossy(&output.stderr).contains("replace; name another directory"));
    // The last checkpoint is from the restarted run.
    let output = run("--case cavity2d --n 12 --steps 3 --checkpoint ck");
    assert!(String::from_utf8_lossy(&output.stderr).contains("the latest of step 8"));
}

#[test]
fn warnings_come_before_the_steps() {
    let directory = tempfile::tempdir().unwrap();
    let text = "
        steps = 2
        lattice = { cells = [12, 8, 1], velocities = \"D2Q9\" }
        fluid = { viscosity = 0.02, velocity = [0.05, 0, 0] }
        reference = { length = 4, speed = 0.05 }
        sides.x = { below = { velocity = [0.05, 0, 0] }, above = \"wall\" }
        [[bodies]]
        shape.box = { from = [3.6, 3.6, 0], to = [4.4, 4.4, 1] }
    ";
    std::fs::write(directory.path().join("small.toml"), text).unwrap();
    let output = start(directory.path(), "--ranks 3 --case small.toml").wait_for_end();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    for warning in ["bodies[0] touches no fluid", "more fluid flows in than out (sides.x.below)"] {
        assert_eq!(error.matches(warning).count(), 1, "{error}");
    }
}
