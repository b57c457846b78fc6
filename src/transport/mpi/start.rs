//! Before a run: whether the launcher fits, and what all processes must agree on.

use std::thread;
use std::time::Instant;

use super::raw::{self, Communicator, InFlight};
use super::session;
use super::topology::Topology;
use crate::error::TransportError;
use crate::transport::Launcher;
use crate::transport::config::Settings;

/// Refuses a launcher whose processes the MPI library does not know of.
pub(super) fn check_launcher(launcher: &Launcher, topology: &Topology) -> Result<(), TransportError> {
    // Where the launcher tells its rank only, a lone world on a later rank gives it away.
    let alone = || topology.size == 1 && launcher.value.trim().parse::<usize>().is_ok_and(|rank| rank > 0);
    if launcher.size.map_or_else(alone, |size| size != topology.size) {
        let (launcher, library) = (launcher.to_string(), raw::library());
        return Err(TransportError::WrongLauncher { launcher, library, size: topology.size });
    }
    Ok(())
}

/// What the processes of a run must have in common, as numbers: version, piece size, comparison of calls, and the
/// number of ranks that was asked for (0: none), with whether the environment asked; and whether a timeline is wanted.
type CommonNumbers = [u64; 8];

fn common(asked: Option<(usize, &'static str)>, settings: &Settings) -> CommonNumbers {
    let number = |text: &str| text.parse().unwrap_or(0);
    [
        number(env!("CARGO_PKG_VERSION_MAJOR")),
        number(env!("CARGO_PKG_VERSION_MINOR")),
        number(env!("CARGO_PKG_VERSION_PATCH")),
        settings.piece_bytes as u64,
        settings.checks as u64,
        asked.map_or(0, |(ranks, _)| ranks as u64),
        u64::from(asked.is_some_and(|(_, by)| by == "ZIPPY_RANKS")),
        u64::from(settings.trace.is_some()),
    ]
}

fn describe([major, minor, patch, piece_bytes, check, ..]: &CommonNumbers) -> String {
    let checks =
        ["no checks", "comparison of calls", "all checks", "all checks that fail the run"][(*check).min(3) as usize];
    format!("version {major}.{minor}.{patch}, pieces of {piece_bytes} bytes, {checks}")
}

/// Compares what all processes have said, so that all return the same error.
fn agree(all: &[CommonNumbers]) -> Result<(), TransportError> {
    let asks = |common: &&CommonNumbers| common[5] != 0 && common[5] != all.len() as u64;
    if let Some(common) = all.iter().find(asks) {
        let by = if common[6] == 1 { "ZIPPY_RANKS" } else { "Config" }.to_owned();
        return Err(TransportError::RankCount { asked: common[5] as usize, by, started: all.len() });
    }
    match all.iter().position(|common| common[..5] != all[0][..5]) {
        None => Ok(()),
        Some(other_rank) => Err(TransportError::Settings {
            rank: 0,
            setting: describe(&all[0]),
            other_rank,
            other_setting: describe(&all[other_rank]),
        }),
    }
}

/// Whether all processes return this error of a start.
pub(super) fn is_agreed(error: &TransportError) -> bool {
    matches!(error, TransportError::RankCount { .. } | TransportError::Settings { .. })
}

/// What a run begins with.
pub(super) struct Started {
    pub communicator: Communicator,
    /// When this rank has heard of all others: the zero of its clock.
    pub zero: Instant,
    /// Whether rank 0 wants a timeline.
    pub traced: bool,
}

/// A communicator for one run, when all processes have agreed on its settings. Collective over `parent`.
pub(super) fn communicator(
    parent: &Communicator,
    topology: &Topology,
    asked: Option<(usize, &'static str)>,
    settings: &Settings,
) -> Result<Started, TransportError> {
    let (_, all) = complete(parent.collect(common(asked, settings))?, topology, settings)?;
    let zero = Instant::now();
    agree(&all)?;
    let made = complete(parent.duplicate()?, topology, settings)?;
    Ok(Started { communicator: Communicator::made(made)?, zero, traced: all[0][7] == 1 })
}

/// Waits for an operation of all ranks.
fn complete<T>(mut operation: InFlight<T>, topology: &Topology, settings: &Settings) -> Result<T, TransportError> {
    let started = Instant::now();
    while !operation.done().inspect_err(session::give_up)? {
        if let Some(limit) = settings.patience.timeout.filter(|&limit| started.elapsed() >= limit) {
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
    operation.into_held().ok_or_else(lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(size: usize) -> Topology {
        Topology { rank: 0, size, node_rank: 0, node_size: size, tag_bits: 28 }
    }

    #[test]
    fn a_launcher_of_another_library_is_refused() {
        let launcher = |variable, value: &str, size| Launcher { variable, value: value.into(), size };
        let open_mpi = launcher("OMPI_COMM_WORLD_SIZE", "3", Some(3));
        assert_eq!(check_launcher(&open_mpi, &of(3)), Ok(()));
        let error = check_launcher(&open_mpi, &of(1)).unwrap_err().to_string();
        assert!(error.contains("OMPI_COMM_WORLD_SIZE=3") && error.contains("a world of 1"), "{error}");
        assert!(error.contains("MPI") && error.contains("cargo xtask mpi"), "{error}");
        assert_eq!(check_launcher(&launcher("PMIX_RANK", "2", None), &of(3)), Ok(()));
        assert_eq!(check_launcher(&launcher("PMIX_RANK", "0", None), &of(1)), Ok(()));
        assert!(check_launcher(&launcher("PMIX_RANK", "2", None), &of(1)).is_err());
    }

    #[test]
    fn processes_that_differ_are_named() {
        let own: CommonNumbers = [0, 1, 0, 1 << 30, 1, 0, 0, 0];
        assert_eq!(agree(&[own; 4]), Ok(()));
        let mut all = [own; 4];
        all[2][3] = 4096;
        let error = agree(&all).unwrap_err().to_string();
        assert!(error.contains("rank 2 has version 0.1.0, pieces of 4096 bytes"), "{error}");
        let mut all = [own; 4];
        all[3][5] = 4;
        assert_eq!(agree(&all), Ok(()));
        (all[3][5], all[3][6]) = (5, 1);
        let expected = TransportError::RankCount { asked: 5, by: "ZIPPY_RANKS".into(), started: 4 };
        assert_eq!(agree(&all), Err(expected));
    }
}
