//! Example `doctor`, whose output other programs read, with closed or full output.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use crate::support::launcher;
use crate::world::readme::built;

/// Command of the example, with one line of output.
fn doctor_command() -> Command {
    let mut command = built("doctor");
    command.arg("--quick").env_remove("ZIPPY_RANKS").env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command
}

#[test]
fn closed_output_of_example_is_no_failure() {
    if launcher::size().is_some() {
        return;
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = doctor_command().stdout(writer).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn full_disk_is_an_error_of_example() {
    if launcher::size().is_some() {
        return;
    }
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = doctor_command().stdout(full).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text.contains("cannot write to standard output: No space left") && !text.contains("panicked"), "{text}");
}
