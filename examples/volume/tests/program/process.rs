//! The program `volume` as a process: signals, files that it leaves, closed or full outputs.

use std::fs::{self, File, OpenOptions};
use std::io::BufReader;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use zippy_testing::running::{Running, kill};

const SMALL: [&str; 4] = ["--phantom-size", "12", "--size", "64x48"];
/// More frames than are rendered before the signal.
const FRAMES: &str = "50000";
const SIGNALS: [(&str, i32); 3] = [("INT", 2), ("TERM", 15), ("HUP", 1)];

/// The program without environment variables of the test.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_volume"));
    command.env_remove("ZIPPY_RANKS").env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command
}

fn volume(ranks: &str, words: &[&str]) -> Command {
    let mut command = program();
    command.args(["--ranks", ranks]).args(SMALL).args(words);
    command
}

fn stderr(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Size of the largest open file of a process in a directory, with or without a name.
fn largest_open_file(process: u32, directory: &Path) -> u64 {
    let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let inside = open.filter(|entry| fs::read_link(entry.path()).is_ok_and(|file| file.starts_with(directory)));
    inside.filter_map(|entry| fs::metadata(entry.path()).ok()).map(|file| file.len()).max().unwrap_or(0)
}

/// Decodes all frames of a picture and counts them.
fn count_frames(path: &Path) -> u32 {
    let mut reader = png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
    let count = reader.info().animation_control.map_or(1, |control| control.num_frames);
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    for _ in 0..count {
        reader.next_frame(&mut bytes).unwrap();
    }
    reader.finish().unwrap();
    count
}

/// Stops a movie after its first frames and checks that the directory contains only the movie with
/// its finished frames.
fn stop_movie(command: Command, stop: impl Fn(u32), rank_0: impl Fn(u32) -> Option<u32>) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("orbit.apng");
    let mut command = command;
    command.args(["--movie", "orbit", "--frames", FRAMES, "--output"]).arg(&path);
    let mut running = Running::start(command);
    let id = running.id();
    let begun = || rank_0(id).is_some_and(|rank| largest_open_file(rank, directory.path()) > 10_000);
    running.wait("some frames", || begun().then_some(()));
    assert!(!path.exists());
    stop(id);
    let output = running.wait_for_end();
    assert_eq!(files_in(directory.path()), std::slice::from_ref(&path), "{output:?}");
    let expected = format!("after {} of {FRAMES} frames: {}", count_frames(&path), path.display());
    assert!(stderr(&output).contains(&expected), "{expected}: {output:?}");
    output
}

#[test]
fn stopped_movie_keeps_its_frames() {
    for (signal, number) in SIGNALS {
        let output = stop_movie(volume("2", &[]), |process| kill(signal, process), Some);
        assert_eq!(output.status.signal(), Some(number));
        assert!(stderr(&output).contains(&format!("stopped by SIG{signal}")), "{output:?}");
    }
}

/// As shells start background commands of scripts.
#[test]
fn ignored_signal_stays_ignored() {
    let program = volume("2", &[]);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' INT HUP; exec \"$0\" \"$@\""]).arg(program.get_program()).args(program.get_args());
    command.env_remove("ZIPPY_RANKS").stdin(Stdio::null());
    let stop = |process| ["INT", "HUP", "TERM"].iter().for_each(|signal| kill(signal, process));
    let output = stop_movie(command, stop, Some);
    assert_eq!(output.status.signal(), Some(15));
    assert!(stderr(&output).contains("stopped by SIGTERM"), "{output:?}");
}

#[test]
fn control_characters_in_names_are_escaped() {
    let directory = tempfile::tempdir().unwrap();
    let pattern = directory.path().join("m\u{1b}]0;pwn\u{7}%d.png");
    let words = ["--movie", "rock", "--frames", FRAMES, "--output", pattern.to_str().unwrap()];
    let mut running = Running::start(volume("1", &words));
    running.wait("frames", || files_in(directory.path()).pop());
    kill("TERM", running.id());
    let output = running.wait_for_end();
    let text = stderr(&output);
    assert!(text.contains(r"m\u{1b}]0;pwn\u{7}%d.png") && !text.contains(['\u{1b}', '\u{7}']), "{text:?}");

    let long = "x".repeat(100_000);
    let lines = "\n".repeat(100_000);
    for words in [
        ["--output", "p\u{1b}]0;pwn\u{7}.xyz"],
        ["--movie", "\u{202e}\u{9b}31m"],
        ["--output", &long],
        ["--zoom", &long],
        ["--split", &lines],
        ["--size", &lines],
    ] {
        let output = volume("1", &words).output().unwrap();
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2));
        assert!(text.len() < 3000 && text.starts_with("error: "), "{} bytes", text.len());
        assert!(
            !text.contains(|letter: char| letter != '\n' && letter.is_control() || letter == '\u{202e}'),
            "{text:?}"
        );
    }
}

#[test]
fn stopped_numbered_movie_keeps_its_frames() {
    let directory = tempfile::tempdir().unwrap();
    let pattern = directory.path().join("%05d.png");
    let words = ["--movie", "rock", "--frames", FRAMES, "--output", pattern.to_str().unwrap()];
    let mut running = Running::start(volume("2", &words));
    let frame = |number: usize| directory.path().join(format!("{number:05}.png"));
    running.wait("frames", || frame(5).exists().then_some(()));
    kill("TERM", running.id());
    let output = running.wait_for_end();
    let count = files_in(directory.path()).len();
    assert!(stderr(&output).contains(&format!("stopped by SIGTERM after {count} of {FRAMES} frames")), "{output:?}");
    (0..count).for_each(|number| assert_eq!(count_frames(&frame(number)), 1));
}

#[test]
fn under_mpi() {
    if !zippy_testing::launcher::wanted() {
        return;
    }
    let start = || {
        let mut command = Command::new(std::env::var_os("ZIPPY_MPIRUN").unwrap_or_else(|| "mpirun".into()));
        command.envs(zippy_testing::launcher::ENVIRONMENT).env_remove("ZIPPY_RANKS").args(["-n", "3"]);
        command.arg(program().get_program()).args(SMALL);
        command
    };
    // Signals to the launcher, to the process that writes, and to another process.
    for (signal, to) in [("INT", None), ("TERM", Some(0)), ("TERM", Some(1))] {
        let stop = |id| kill(signal, to.map_or(id, |rank| zippy_testing::launcher::process_of_rank(rank, id).unwrap()));
        let output = stop_movie(start(), stop, |id| zippy_testing::launcher::process_of_rank(0, id));
        assert!(!output.status.success(), "{output:?}");
    }
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.png");
    let picture = ["--output", path.to_str().unwrap()];
    let json = [&picture[..], &["--json"]].concat();
    for mut command in [volume("2", &picture), volume("2", &json), volume("1", &["--help"])] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.stdout(writer).output().unwrap();
        assert!(output.status.success(), "{command:?}: {output:?}");
        stderr(&output);
    }
    assert_eq!(count_frames(&path), 1);
}

#[test]
fn full_disk_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.png");
    let picture = ["--output", path.to_str().unwrap()];
    let json = [&picture[..], &["--json"]].concat();
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for mut command in [volume("2", &picture), volume("2", &json), volume("1", &["--help"])] {
        let output = command.stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}: {output:?}");
        assert!(stderr(&output).contains("cannot write to standard output: No space left"), "{output:?}");
    }
    // With --json, failures of standard error have no effect.
    let mut command = volume("2", &json);
    let output = command.stderr(full()).stdout(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"{"), "{output:?}");
    let wrong = volume("2", &["--no-such-option"]).stderr(full()).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

/// In separate processes, because devices keep pipelines of earlier pictures.
#[test]
fn frame_times_exclude_compilation() {
    let kinds: [&[&str]; 7] = [
        &[],
        &["--shade", "--preintegrated"],
        &["--clip", "1,0,0,3", "--clip", "0,1,0,2"],
        &["--fast", "--algorithm", "swap"],
        &["--pixel", "rgba8"],
        &["--encoding", "runs"],
        &["--encoding", "dense", "--idle-ranks", "1"],
    ];
    let directory = tempfile::tempdir().unwrap();
    for kind in kinds {
        let mut command = program();
        command.args(["--ranks", "3", "--phantom-size", "40x36x32", "--size", "90x70", "--repeat", "3", "--json"]);
        command.args(kind).arg("--output").arg(directory.path().join("a.png"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{kind:?}: {output:?}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let pipelines = ["compile", "prepare", "frames"].map(|phase| json["pipelines"][phase].as_u64().unwrap());
        assert!(pipelines[0] > 0 && pipelines[1..] == [0, 0], "{kind:?}: {pipelines:?}");
        for frame in ["first_frame", "later_frame"] {
            assert!(json["timings_secs"][frame].as_f64().is_some_and(|secs| secs > 0.0), "{kind:?}: {json}");
        }
        assert!(stderr(&output).contains("\nlater "), "{output:?}");
    }
}
