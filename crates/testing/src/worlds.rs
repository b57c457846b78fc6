//! Runs of a program on several numbers of ranks.
//!
//! Ranks are threads of this process, or processes when the test binary runs itself under the MPI
//! launcher.

use proptest::test_runner::RngSeed;
use zippy::device::{Device, DeviceOptions};
use zippy::error::DeviceError;
use zippy::transport::{Group, launch};
use zippy::{Config, Result, World, run_with};

use crate::again::run_again;
use crate::launcher;

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
