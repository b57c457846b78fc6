//! Support of the integration tests: runs a program on several numbers of ranks.
//!
//! Ranks are threads of this process, or processes when the test binary runs itself under the MPI
//! launcher.

#![allow(dead_code)] // every test binary uses its part of this

pub mod cells;
pub mod ghosts;
pub mod jobs;
pub mod launcher;
pub mod shaders;

use std::process::Command;

use proptest::test_runner::RngSeed;
use zippy::device::{Device, DeviceOptions};
use zippy::error::DeviceError;
use zippy::transport::{Group, launch};
use zippy::{Config, Result, World, run_with};

/// Numbers of ranks as threads for every operation.
pub const RANKS: &[usize] = &[1, 2, 3, 5, 8];

/// Runs `program` once for every number of ranks; under a launcher, once with the launcher's
/// number.
///
/// # Panics
/// A rank returns an error.
pub fn ranks(counts: &[usize], program: impl Fn(&World) -> Result<()> + Send + Sync) {
    run_all(counts, &program);
}

/// Version of [`ranks`] without generics, to save compile time.
fn run_all(counts: &[usize], program: &(dyn Fn(&World) -> Result<()> + Send + Sync)) {
    for count in launcher::counts(counts) {
        if let Err(error) = run_with(Config::threads(count), program) {
            panic!("on {count} ranks: {error}");
        }
    }
}

/// [`ranks`] without a GPU, for tests of the layers below the world.
pub fn groups(counts: &[usize], program: impl Fn(Group) -> Result<()> + Send + Sync) {
    groups_with(counts, |config| config, program);
}

/// [`groups`] with settings.
pub fn groups_with(
    counts: &[usize],
    set: impl Fn(Config) -> Config,
    program: impl Fn(Group) -> Result<()> + Send + Sync,
) {
    let program: &(dyn Fn(Group) -> Result<()> + Send + Sync) = &program;
    for count in launcher::counts(counts) {
        if let Err(error) = launch(&set(Config::threads(count)), program) {
            panic!("on {count} ranks: {error}");
        }
    }
}

/// Seed of property tests on ranks: all processes of a launcher must draw the same cases.
pub fn seed() -> RngSeed {
    if launcher::size().is_some() { RngSeed::Fixed(20_080_417) } else { RngSeed::Random }
}

/// Runs this binary again in a separate process, and returns its standard output.
///
/// # Panics
/// A test of the process fails. The message is `label` and all output.
fn run_again(label: &str, change: impl FnOnce(&mut Command)) -> String {
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

/// True if the host computes kernels natively.
pub fn computes_natively() -> bool {
    match Device::open(&DeviceOptions::default()) {
        Ok(device) => device.is_native(),
        Err(DeviceError::MissingFeature { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

/// Runs tests of this binary again with native kernels instead of host versions of operations.
///
/// A test runs if its path contains one of the filters. On adapters that compute kernels, no test
/// runs.
pub fn rerun_by_native_kernels(filters: &[&str]) {
    let other = ["ZIPPY_KERNELS", "ZIPPY_HOST_MAP"].iter().any(|name| std::env::var_os(name).is_some());
    if other || launcher::size().is_some() || !computes_natively() {
        return;
    }
    let out = run_again("native kernels only", |command| {
        command.args(filters).env("ZIPPY_KERNELS", "native-only");
        // These tests need the host versions, a driver, or a launcher.
        for skipped in ["by_native_kernels", "by_driver", "host_thread", "in_place_too", "under_mpi"] {
            command.args(["--skip", skipped]);
        }
    });
    assert!(out.contains(" ... ok"), "{out}");
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
            $crate::support::rerun_in_place(module_path!());
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
            $crate::support::launcher::rerun_all(&[$($ranks),+], &[$($(concat!(stringify!($module), "::")),+)?]);
        }
    };
}
