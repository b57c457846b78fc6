//! Runs that are ended before their last step keep what they have.

use std::path::Path;
use std::process::Command;

use super::running::{Running, kill};

/// How many frames a movie says that it has, and how many can be read.
fn frames(path: &Path) -> (u32, usize) {
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(std::fs::File::open(path).unwrap())).read_info().unwrap();
    let told = reader.info().animation_control.unwrap().num_frames;
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let read = (0..told).take_while(|_| reader.next_frame(&mut bytes).is_ok()).count();
    assert!(reader.finish().is_ok());
    (told, read)
}

fn started(directory: &Path, options: &str) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lbm"));
    command.args(options.split_whitespace()).current_dir(directory).env_remove("ZIPPY_RANKS");
    Running::start(command)
}

const ENDLESS: &str = "--ranks 2 --case cylinder --n 4 --steps 100000000 --every 20 --render speed --output flow.apng";

#[test]
fn a_movie_is_whole_after_signals() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("flow.apng");
    for signal in ["INT", "TERM"] {
        let mut running = started(directory.path(), &format!("{ENDLESS} --forces table.csv --json"));
        running.wait("some steps", || {
            // A line a picture.
            let table = std::fs::read_to_string(directory.path().join("table.csv")).unwrap_or_default();
            (table.lines().count() > 8).then_some(())
        });
        kill(signal, running.id());
        let output = running.ended();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && said.contains("\"ended_by\":\"signal\""), "{said}");
        let (told, read) = frames(&file);
        assert!(told as usize == read && read > 3, "{told} {read}");
        std::fs::remove_file(&file).unwrap();
        std::fs::remove_file(directory.path().join("table.csv")).unwrap();
    }
}

#[test]
fn a_movie_is_whole_when_the_time_is_over_and_when_the_flow_fails() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("flow.apng");
    let output = started(directory.path(), &format!("{ENDLESS} --budget 1")).ended();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("its time is over"));
    let (told, read) = frames(&file);
    assert!(told as usize == read && read > 1, "{told} {read}");
    std::fs::remove_file(&file).unwrap();

    let unstable = ENDLESS.replace("100000000", "4000").replace("--n 4", "--n 4 --re 1e9 --speed 0.1");
    let output = started(directory.path(), &unstable).ended();
    assert!(String::from_utf8_lossy(&output.stderr).contains("has become unstable"), "{output:?}");
    let (told, read) = frames(&file);
    assert!(told as usize == read && read > 1, "{told} {read}");
}

#[test]
fn checkpoints_of_another_run_are_refused_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let run = |options: &str| started(directory.path(), &format!("--ranks 2 {options}")).ended();
    assert!(run("--case cavity2d --n 12 --steps 3 --checkpoint ck").status.success());
    for other in ["--case couette --n 8 --steps 2", "--case cavity2d --n 12 --steps 3"] {
        let output = run(&format!("{other} --checkpoint ck"));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let wanted =
            "it has checkpoints of the case cavity2d, the latest of step 3, which those of this run would replace";
        assert!(!output.status.success() && told.contains(wanted), "{told}");
    }
    let output = run("--restart ck --steps 5 --checkpoint ./ck");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(run("--restart ck --steps 2 --checkpoint other").status.success());
    let output = run("--restart other --steps 2 --checkpoint ck");
    assert!(String::from_utf8_lossy(&output.stderr).contains("replace; name another directory"));
    // Its last checkpoint is that of its own restart.
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
    let output = started(directory.path(), "--ranks 3 --case small.toml").ended();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    for warning in ["bodies[0] touches no fluid", "more fluid flows in than out (sides.x.below)"] {
        assert_eq!(told.matches(warning).count(), 1, "{told}");
    }
}
