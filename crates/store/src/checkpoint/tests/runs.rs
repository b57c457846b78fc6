//! Two programs in one directory: the second one gets an error that names the first.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use zippy::error::ErrorKind;
use zippy::{Config, World, run_with};

use super::{Checkpoints, command_for_test, directory, is_step, names, save_step};

const DIRECTORY: &str = "ZIPPY_IO_HELD";

/// Saves once, and holds the directory until it reads a line.
#[test]
fn a_child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let checkpoints = Checkpoints::new(directory, 2);
    run_with(Config::threads(2), |world| save_step(&checkpoints, world, 7)).unwrap();
    let mut out = std::io::stdout().lock();
    writeln!(out, "saved 7").and_then(|()| out.flush()).unwrap();
    drop(out);
    let _ = std::io::stdin().read_line(&mut String::new());
}

fn holding(directory: &std::path::Path) -> Child {
    let mut command = command_for_test("runs::a_child");
    command.env(DIRECTORY, directory).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.into_iter().any(|line| line.contains("saved 7")));
    child
}

#[test]
fn second_program_is_refused_until_the_first_has_ended() {
    let directory = directory();
    let mut child = holding(directory.path());
    let checkpoints = Checkpoints::new(directory.path(), 1);
    let before = names(directory.path());
    let save = |world: &World| {
        let error = save_step(&checkpoints, world, 8).unwrap_err();
        let text = match error.kind() {
            ErrorKind::Remote { message, .. } => message.clone(),
            kind => kind.to_string(),
        };
        for wanted in ["another program saves its checkpoints here", &format!("process {} on ", child.id()), " UTC"] {
            assert!(text.contains(wanted), "rank {}: {text}, not {wanted}", world.rank());
        }
        is_step(&checkpoints.latest(world)?.unwrap(), world, 7)
    };
    run_with(Config::threads(3), save).unwrap();
    assert_eq!(names(directory.path()), before);
    // The first child ends normally, the second one is killed.
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    child.wait().unwrap();
    let mut killed = holding(directory.path());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(directory.path().join("run.lock").exists());
    run_with(Config::threads(3), |world| save_step(&checkpoints, world, 8)).unwrap();
    assert_eq!(checkpoints.steps().unwrap(), [8]);
    let manifest = std::fs::read_to_string(directory.path().join("step-000000000008.000003/manifest.json")).unwrap();
    assert!(manifest.contains(&format!("\"run\":\"process {} on ", std::process::id())), "{manifest}");
    drop(checkpoints);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}
