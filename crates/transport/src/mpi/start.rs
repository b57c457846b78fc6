//! Checks before a run: launcher and MPI library match, and all processes have the same settings.

use std::thread;
use std::time::Instant;

use super::raw::{self, Communicator, InFlight};
use super::session;
use super::topology::Topology;
use crate::Launcher;
use crate::config::{RequestedRanks, Settings};
use zippy_base::error::TransportError;

/// Checks that the MPI library reports as many processes as the launcher has started, else
/// [`TransportError::WrongLauncher`].
pub(super) fn check_launcher(launcher: &Launcher, topology: &Topology) -> Result<(), TransportError> {
    // Some launchers give only a rank: a rank above 0 in a world of one process shows the error.
    let alone = || topology.size == 1 && launcher.value.trim().parse::<usize>().is_ok_and(|rank| rank > 0);
    if launcher.size.map_or_else(alone, |size| size != topology.size) {
        let (launcher, library) = (launcher.to_string(), raw::library());
        return Err(TransportError::WrongLauncher { launcher, library, size: topology.size });
    }
    Ok(())
}

/// Settings of a process that are compared at the start of a run.
type CommonNumbers = [u64; 8];

/// Number of leading entries of [`CommonNumbers`] that must be equal: version, size of a piece,
/// checks.
const EQUAL: usize = 5;
/// Index of the requested number of ranks, or 0 without a request.
const REQUESTED: usize = 5;
/// Index of a flag: the request is from `ZIPPY_RANKS` (1) or from `Config` (0).
const FROM_ENVIRONMENT: usize = 6;
/// Index of a flag: a timeline is requested (1).
const TRACED: usize = 7;

fn common(requested: Option<RequestedRanks>, settings: &Settings) -> CommonNumbers {
    let number = |text: &str| text.parse().unwrap_or(0);
    [
        number(env!("CARGO_PKG_VERSION_MAJOR")),
        number(env!("CARGO_PKG_VERSION_MINOR")),
        number(env!("CARGO_PKG_VERSION_PATCH")),
        settings.piece_bytes as u64,
        settings.checks as u64,
        requested.map_or(0, |requested| requested.count as u64),
        u64::from(requested.is_some_and(|requested| requested.source == "ZIPPY_RANKS")),
        u64::from(settings.trace.is_some()),
    ]
}

fn describe([major, minor, patch, piece_bytes, check, ..]: &CommonNumbers) -> String {
    let checks =
        ["no checks", "comparison of calls", "all checks", "all checks that fail the run"][(*check).min(3) as usize];
    format!("version {major}.{minor}.{patch}, pieces of {piece_bytes} bytes, {checks}")
}

/// Compares the settings of all processes, given in order of rank. All processes return the same
/// error.
fn agree(all: &[CommonNumbers]) -> Result<(), TransportError> {
    let is_wrong = |common: &&CommonNumbers| common[REQUESTED] != 0 && common[REQUESTED] != all.len() as u64;
    if let Some(common) = all.iter().find(is_wrong) {
        let by = if common[FROM_ENVIRONMENT] == 1 { "ZIPPY_RANKS" } else { "Config" }.to_owned();
        return Err(TransportError::RankCount { asked: common[REQUESTED] as usize, by, started: all.len() });
    }
    match all.iter().position(|common| common[..EQUAL] != all[0][..EQUAL]) {
        None => Ok(()),
        Some(other_rank) => Err(TransportError::Settings {
            rank: 0,
            setting: describe(&all[0]),
            other_rank,
            other_setting: describe(&all[other_rank]),
        }),
    }
}

/// True for start errors that all processes return.
pub(super) fn is_agreed(error: &TransportError) -> bool {
    matches!(error, TransportError::RankCount { .. } | TransportError::Settings { .. })
}

pub(super) struct Started {
    pub communicator: Communicator,
    /// Start of this rank's clock: the time after messages of all other ranks.
    pub clock_start: Instant,
    pub traced: bool,
}

/// Creates a communicator for one run after all processes have agreed on its settings. Collective
/// over `parent`.
///
/// All processes return the same [`TransportError::RankCount`] or [`TransportError::Settings`].
pub(super) fn communicator(
    parent: &Communicator,
    topology: &Topology,
    requested: Option<RequestedRanks>,
    settings: &Settings,
) -> Result<Started, TransportError> {
    let (_, all) = complete(parent.all_gather(common(requested, settings))?, topology, settings)?;
    let clock_start = Instant::now();
    agree(&all)?;
    let duplicate = complete(parent.duplicate()?, topology, settings)?;
    Ok(Started { communicator: Communicator::from_duplicate(duplicate)?, clock_start, traced: all[0][TRACED] == 1 })
}

/// Waits for a collective MPI operation, up to the time limit of waits.
fn complete<T>(mut operation: InFlight<T>, topology: &Topology, settings: &Settings) -> Result<T, TransportError> {
    let started = Instant::now();
    while !operation.done().inspect_err(session::give_up)? {
        if let Some(limit) = settings.wait_limits.timeout.filter(|&limit| started.elapsed() >= limit) {
            let error = TransportError::Timeout {
                rank: topology.rank,
                peer: "the other ranks".into(),
                operation: "the start of a run".into(),
                seconds: limit.as_secs_f64(),
            };
            session::give_up(&error);
            return Err(error);
        }
        thread::yield_now();
    }
    let lost = || TransportError::Other("an operation of MPI lost its result".into());
    operation.into_buffer().ok_or_else(lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology(size: usize) -> Topology {
        Topology { rank: 0, size, node_rank: 0, node_size: size, tag_bits: 28 }
    }

    #[test]
    fn launcher_of_another_library_is_an_error() {
        let launcher = |variable, value: &str, size| Launcher { variable, value: value.into(), size };
        let open_mpi = launcher("OMPI_COMM_WORLD_SIZE", "3", Some(3));
        assert_eq!(check_launcher(&open_mpi, &topology(3)), Ok(()));
        let error = check_launcher(&open_mpi, &topology(1)).unwrap_err().to_string();
        assert!(error.contains("OMPI_COMM_WORLD_SIZE=3") && error.contains("a world of 1"), "{error}");
        assert!(error.contains("MPI") && error.contains("cargo xtask mpi"), "{error}");
        assert_eq!(check_launcher(&launcher("PMIX_RANK", "2", None), &topology(3)), Ok(()));
        assert_eq!(check_launcher(&launcher("PMIX_RANK", "0", None), &topology(1)), Ok(()));
        assert!(check_launcher(&launcher("PMIX_RANK", "2", None), &topology(1)).is_err());
    }

    #[test]
    fn different_settings_name_both_processes() {
        let own: CommonNumbers = [0, 1, 0, 1 << 30, 1, 0, 0, 0];
        assert_eq!(agree(&[own; 4]), Ok(()));
        let mut all = [own; 4];
        all[2][3] = 4096;
        let error = agree(&all).unwrap_err().to_string();
        assert!(error.contains("rank 2 has version 0.1.0, pieces of 4096 bytes"), "{error}");
        let mut all = [own; 4];
        all[3][REQUESTED] = 4;
        assert_eq!(agree(&all), Ok(()));
        (all[3][REQUESTED], all[3][FROM_ENVIRONMENT]) = (5, 1);
        let expected = TransportError::RankCount { asked: 5, by: "ZIPPY_RANKS".into(), started: 4 };
        assert_eq!(agree(&all), Err(expected));
    }
}
