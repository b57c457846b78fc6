//! Runs of a test binary in a separate process, for tests that settings of a process affect.

use std::process::Command;

use crate::launcher;

/// Runs this binary again in a separate process, and returns its standard output.
///
/// # Panics
/// A test of the process fails. The message is `label` and all output.
pub fn run_again(label: &str, change: impl FnOnce(&mut Command)) -> String {
    let mut command = Command::new(std::env::current_exe().expect("a test binary has a path"));
    change(&mut command);
    let output = command.output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{label}, {}:\n{out}\n{err}", output.status);
    out
}

/// Runs the test with the full path `test` in a separate process with environment variables, so
/// that no other test affects its measurements.
pub fn alone(test: &str, settings: &[(&str, &str)]) {
    if launcher::size().is_some() {
        return;
    }
    let out = run_again(&format!("{test} with {settings:?}"), |command| {
        command.args(["--exact", test, "--nocapture"]).envs(settings.iter().copied());
    });
    assert!(out.contains("1 passed"), "{test} was not run:\n{out}");
}

/// True if this process runs a single test, started by [`alone`].
pub fn is_alone() -> bool {
    let (options, names): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    names.len() == 1 && options.iter().any(|option| option == "--exact")
}

/// Runs all tests of the module with the full path `module` again, with messages of any size sent
/// directly from chunks, without staging.
pub fn rerun_in_place(module: &str) {
    let other = ["ZIPPY_IN_PLACE", "ZIPPY_HOST_MAP"].iter().any(|name| std::env::var_os(name).is_some());
    if other || launcher::size().is_some() {
        return;
    }
    let module = module.split_once("::").map(|(_, inside)| format!("{inside}::"));
    let out = run_again("messages in place", |command| {
        command.args(module).args(["--skip", "in_place_too", "--skip", "under_mpi"]).env("ZIPPY_IN_PLACE", "4");
    });
    assert!(out.contains(" ... ok"), "{out}");
}

/// Defines a test that runs all other tests of its module with messages sent directly from chunks.
#[macro_export]
macro_rules! in_place_too {
    () => {
        #[test]
        fn in_place_too() {
            $crate::again::rerun_in_place(module_path!());
        }
    };
}

/// Defines a test that runs all other tests of the binary under the MPI launcher if
/// `ZIPPY_TEST_MPI` is set, once for each number of ranks, except modules without additional
/// messages.
///
/// The run with 3 ranks sets `ZIPPY_IN_PLACE=4`, to test sending from mapped memory under MPI.
#[macro_export]
macro_rules! under_mpi {
    ($($ranks:literal),+ $(; without $($module:ident),+)?) => {
        #[test]
        fn under_mpi() {
            $crate::launcher::rerun_all(&[$($ranks),+], &[$($(concat!(stringify!($module), "::")),+)?]);
        }
    };
}
