//! How a run is started.

use std::path::PathBuf;
use std::time::Duration;

use super::environment::{self, Checking, Launcher, MAX_THREADS, detect_launcher};
use super::patience::Patience;
use crate::error::TransportError;

/// Where the ranks of a run come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ranks {
    /// What the environment says.
    #[default]
    Auto,
    /// This many threads, or as many processes where an MPI launcher started them.
    Threads(usize),
    /// This many threads, whatever started the process.
    Apart(usize),
}

/// How a run is started. What is left open is taken from the environment, then from the defaults.
///
/// | setting | variable | default |
/// |---|---|---|
/// | [number of ranks](Self::threads) | `ZIPPY_RANKS`, or the MPI launcher's | 1 |
/// | [`check`](Self::check) | `ZIPPY_CHECK` | off; calls are compared in debug builds |
/// | [`timeout`](Self::timeout) | `ZIPPY_TIMEOUT_SECS` | 300 s |
/// | [`warn_after`](Self::warn_after) | | 10 s |
/// | [`trace`](Self::trace) | `ZIPPY_TRACE` | none |
/// | [`exit_on_failure`](Self::exit_on_failure) | off with `ZIPPY_VERBOSE=1` | on in [`run`](crate::run) only |
/// | [`stack_bytes`](Self::stack_bytes) | | 16 MiB |
/// | [`piece_bytes`](Self::piece_bytes) | | 1 GiB |
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    ranks: Ranks,
    check: Option<bool>,
    timeout: Option<Duration>,
    warn_after: Option<Duration>,
    piece_bytes: Option<usize>,
    stack_bytes: Option<usize>,
    exit_on_failure: bool,
    trace: Option<PathBuf>,
}

impl Config {
    /// The processes of an MPI launcher where one started this process, else `ZIPPY_RANKS` threads, else one rank.
    pub fn new() -> Self {
        Self::default()
    }

    /// `ranks` threads of this process. Under an MPI launcher its processes are the ranks, and must be as many.
    pub fn threads(ranks: usize) -> Self {
        Self { ranks: Ranks::Threads(ranks), ..Self::default() }
    }

    /// `ranks` threads of this process, whatever started it: under an MPI launcher each process has a world of its own.
    pub fn apart(ranks: usize) -> Self {
        Self { ranks: Ranks::Apart(ranks), ..Self::default() }
    }

    /// Whether the run is checked: ranks compare their calls before anything is moved, and stale ghost cells and positions
    /// outside of a chunk are [found](crate::World::findings). Debug builds compare calls where nothing is said. The program
    /// decides about findings; with `ZIPPY_CHECK=1` in place of this they fail the run at its end.
    ///
    /// Without it, calls that differ are found by the messages that they send.
    #[must_use]
    pub fn check(self, check: bool) -> Self {
        Self { check: Some(check), ..self }
    }

    /// After what time a wait fails.
    ///
    /// When a run has failed, ranks have this time once more to come back. Those that do not end the process, or under MPI
    /// the job, as a rank that loops for ever can be told nothing. Other runs of the process end with it.
    ///
    /// Ranks that have finished wait for the others for twice this time, and say so when half of that is over.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// After what time a wait says what it waits for.
    #[must_use]
    pub fn warn_after(self, warn_after: Duration) -> Self {
        Self { warn_after: Some(warn_after), ..self }
    }

    /// Of how many bytes the pieces are into which messages are cut under MPI.
    #[must_use]
    pub fn piece_bytes(self, piece_bytes: usize) -> Self {
        Self { piece_bytes: Some(piece_bytes), ..self }
    }

    /// Whether a run that fails under MPI ends the program with one report.
    ///
    /// The process of the rank that failed first says why on standard error, and all exit with code 1. (Of several that
    /// failed before they knew of each other, the lowest speaks.) Otherwise each process returns an error.
    #[must_use]
    pub fn exit_on_failure(self, exit: bool) -> Self {
        Self { exit_on_failure: exit, ..self }
    }

    /// The file for the timeline of all ranks: what each did when, and for whom it waited. Rank 0 writes it at the end of the
    /// run, also of one that failed, as far as the other ranks still come to their end. Perfetto (`ui.perfetto.dev`) opens
    /// it, as Chrome's trace events in JSON: a process each rank.
    ///
    /// Under MPI what rank 0 was told holds. Each rank keeps its latest 2^18 spans, and what is not there is said. Times are
    /// since the start of the run; under MPI ranks begin to count when they have heard of all others, so that their rows
    /// are apart by the time of a few messages. Of several runs of a process that name one file, the last one's is left.
    ///
    /// A place where no file can be is an error at the start of the run; a file that cannot be written in the end is said
    /// and ends no run.
    #[must_use]
    pub fn trace(self, file: impl Into<PathBuf>) -> Self {
        Self { trace: Some(file.into()), ..self }
    }

    /// The stack of each rank's thread in bytes.
    #[must_use]
    pub fn stack_bytes(self, stack_bytes: usize) -> Self {
        Self { stack_bytes: Some(stack_bytes), ..self }
    }
}

/// What starts the ranks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Start {
    Threads(usize),
    /// The MPI library; the number of ranks that was asked for and by what, to be compared with its world.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    Mpi {
        launcher: Launcher,
        asked: Option<(usize, &'static str)>,
    },
}

/// What a run looks after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checks {
    Nothing,
    /// Calls are compared between ranks.
    Calls,
    /// And ghost cells and the positions of helpers are watched.
    All,
    /// And findings are a failure at the end of the run.
    AllFailing,
}

/// A configuration with nothing left open.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub start: Start,
    pub checks: Checks,
    pub patience: Patience,
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub piece_bytes: usize,
    pub stack_bytes: usize,
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub exit_on_failure: bool,
    /// Where the timeline goes.
    pub trace: Option<PathBuf>,
}

impl Settings {
    /// Completes a configuration. `with_mpi` says whether this build has MPI.
    pub(crate) fn resolve(
        config: &Config,
        variable: impl Fn(&str) -> Option<String>,
        with_mpi: bool,
    ) -> Result<Self, TransportError> {
        let setting = |setting: &str, value: String, expected: &str| TransportError::Setting {
            setting: setting.into(),
            value,
            expected: expected.into(),
        };
        let from_environment = environment::ranks(&variable)?;
        let asked = match config.ranks {
            Ranks::Auto => from_environment.map(|ranks| (ranks, "ZIPPY_RANKS")),
            Ranks::Threads(ranks) | Ranks::Apart(ranks) => Some((ranks, "Config")),
        };
        if let Some((ranks, _)) = asked
            && !(1..=MAX_THREADS).contains(&ranks)
        {
            return Err(setting("ranks", ranks.to_string(), &format!("a number of ranks from 1 to {MAX_THREADS}")));
        }
        let start = match detect_launcher(&variable).filter(|_| !matches!(config.ranks, Ranks::Apart(_))) {
            Some(launcher) if with_mpi => Start::Mpi { launcher, asked },
            Some(launcher) => return Err(TransportError::NeedsMpi { launcher: launcher.to_string() }),
            None => Start::Threads(asked.map_or(1, |(ranks, _)| ranks)),
        };
        let of_program = config.check.map(|check| if check { Checking::Warning } else { Checking::Off });
        let checks = match of_program.or(environment::check(&variable)?) {
            Some(Checking::Failing) => Checks::AllFailing,
            Some(Checking::Warning) => Checks::All,
            None if cfg!(debug_assertions) => Checks::Calls,
            None | Some(Checking::Off) => Checks::Nothing,
        };
        let timeout = config.timeout.or(environment::timeout(&variable)?).unwrap_or(Duration::from_secs(300));
        if timeout.is_zero() {
            return Err(setting("timeout", "0 s".into(), "a time above 0"));
        }
        let piece_bytes = config.piece_bytes.unwrap_or(1 << 30);
        if !(1..=1 << 30).contains(&piece_bytes) {
            return Err(setting("piece_bytes", piece_bytes.to_string(), "a number of bytes from 1 to 2^30"));
        }
        let stack_bytes = config.stack_bytes.unwrap_or(16 << 20);
        if !(1 << 16..=1 << 34).contains(&stack_bytes) {
            return Err(setting("stack_bytes", stack_bytes.to_string(), "a number of bytes from 2^16 to 2^34"));
        }
        Ok(Self {
            start,
            checks,
            patience: Patience {
                lenient: false,
                warn_after: config.warn_after.unwrap_or(Duration::from_secs(10)),
                timeout: Some(timeout),
            },
            piece_bytes,
            stack_bytes,
            exit_on_failure: config.exit_on_failure && !environment::verbose(&variable)?,
            trace: config.trace.clone().or_else(|| variable("ZIPPY_TRACE").map(PathBuf::from)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(config: &Config, pairs: &[(&str, &str)], with_mpi: bool) -> Result<Settings, TransportError> {
        let variable = |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Settings::resolve(config, variable, with_mpi)
    }

    #[test]
    fn the_environment_chooses_unless_the_program_does() {
        let start = |config: &Config, pairs: &[(&str, &str)]| resolve(config, pairs, true).unwrap().start;
        assert_eq!(start(&Config::new(), &[]), Start::Threads(1));
        assert_eq!(start(&Config::new(), &[("ZIPPY_RANKS", "3")]), Start::Threads(3));
        assert_eq!(start(&Config::threads(5), &[("ZIPPY_RANKS", "3")]), Start::Threads(5));
        let under = [("OMPI_COMM_WORLD_SIZE", "4"), ("ZIPPY_RANKS", "3")];
        assert_eq!(start(&Config::apart(2), &under), Start::Threads(2));
        let Start::Mpi { launcher, asked } = start(&Config::new(), &under) else { panic!("no MPI") };
        assert_eq!((launcher.size, asked), (Some(4), Some((3, "ZIPPY_RANKS"))));
        let Start::Mpi { asked, .. } = start(&Config::threads(4), &under) else { panic!("no MPI") };
        assert_eq!(asked, Some((4, "Config")));
    }

    #[test]
    fn a_build_without_mpi_refuses_a_launcher() {
        for pair in [("OMPI_COMM_WORLD_SIZE", "4"), ("PMI_SIZE", "2"), ("PMIX_RANK", "0"), ("PMI_RANK", "1")] {
            let error = resolve(&Config::new(), &[pair], false).unwrap_err().to_string();
            assert!(error.contains("--features mpi") && error.contains(pair.0), "{error}");
            assert!(resolve(&Config::threads(2), &[pair], false).is_err());
            assert_eq!(resolve(&Config::apart(2), &[pair], false).unwrap().start, Start::Threads(2));
        }
        assert_eq!(resolve(&Config::new(), &[], false).unwrap().start, Start::Threads(1));
    }

    #[test]
    fn settings_are_completed_or_refused() {
        let defaults = resolve(&Config::new(), &[], true).unwrap();
        assert_eq!(defaults.patience.timeout, Some(Duration::from_secs(300)));
        assert_eq!(defaults.patience.warn_after, Duration::from_secs(10));
        let set = resolve(&Config::new(), &[("ZIPPY_TIMEOUT_SECS", "7")], true).unwrap();
        assert_eq!(set.patience.timeout, Some(Duration::from_secs(7)));
        let own = Config::new().timeout(Duration::from_secs(2));
        let own = resolve(&own, &[("ZIPPY_TIMEOUT_SECS", "7")], true).unwrap();
        assert_eq!(own.patience.timeout, Some(Duration::from_secs(2)));
        let bad = [
            Config::threads(0),
            Config::threads(1_000_000),
            Config::new().timeout(Duration::ZERO),
            Config::new().piece_bytes(0),
            Config::new().piece_bytes(1 << 31),
            Config::new().stack_bytes(10),
        ];
        for config in bad {
            assert!(matches!(resolve(&config, &[], true), Err(TransportError::Setting { .. })), "{config:?}");
        }
        assert!(resolve(&Config::new(), &[("ZIPPY_CHECK", "2")], true).is_err());
    }
}
