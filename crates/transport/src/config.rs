//! [`Config`]: settings of a run, and their defaults from the environment.

use std::path::PathBuf;
use std::time::Duration;

use super::environment::{self, Checking, Launcher, MAX_THREADS, detect_launcher};
use super::wait_limits::WaitLimits;
use zippy_base::error::TransportError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ranks {
    /// Processes of an MPI launcher, `ZIPPY_RANKS` threads, or one rank.
    #[default]
    Auto,
    /// Threads of this process, or the same number of processes of an MPI launcher.
    Threads(usize),
    /// Threads of this process, even under an MPI launcher.
    Apart(usize),
}

/// Settings of a run. An unset setting has the value of its environment variable, else its default.
///
/// | setting | variable | default |
/// |---|---|---|
/// | [number of ranks](Self::threads) | `ZIPPY_RANKS`, or the MPI launcher's | 1 |
/// | [`check`](Self::check) | `ZIPPY_CHECK` | off; calls are compared in debug builds |
/// | [`timeout`](Self::timeout) | `ZIPPY_TIMEOUT_SECS` | 300 s |
/// | [`warn_after`](Self::warn_after) | | 10 s |
/// | [`trace`](Self::trace) | `ZIPPY_TRACE` | none |
/// | [`exit_on_failure`](Self::exit_on_failure) | `ZIPPY_VERBOSE=1`: off | on only in `run` |
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
    /// Configuration with the ranks of the environment: the processes of an MPI launcher, else
    /// `ZIPPY_RANKS` threads, else one rank.
    pub fn new() -> Self {
        Self::default()
    }

    /// Configuration for `ranks` threads of this process. Under an MPI launcher, the launcher's
    /// processes are the ranks, and their number must be `ranks`.
    pub fn threads(ranks: usize) -> Self {
        Self { ranks: Ranks::Threads(ranks), ..Self::default() }
    }

    /// Configuration for `ranks` threads of this process, even under an MPI launcher. Each process
    /// then has a separate world.
    pub fn apart(ranks: usize) -> Self {
        Self { ranks: Ranks::Apart(ranks), ..Self::default() }
    }

    /// Sets checks on or off. With checks, ranks compare their calls before any data moves, and
    /// stale ghost cells and positions outside of a chunk are found (`world.debug().findings()`).
    /// An unset value compares calls in debug builds.
    ///
    /// The program handles the findings of this setting. With `ZIPPY_CHECK=1` instead, findings
    /// fail the run at its end.
    ///
    /// Without checks, messages still reveal calls that differ.
    #[must_use]
    pub fn check(self, check: bool) -> Self {
        Self { check: Some(check), ..self }
    }

    /// Sets the time after which a wait fails.
    ///
    /// After a failure, the program of every rank must return within this time. Otherwise the
    /// process ends, under MPI the whole job, including other runs in the process: a thread in an
    /// endless loop cannot be stopped.
    ///
    /// A finished rank waits twice this time for the other ranks, with a warning at half.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Sets the time after which a wait prints a warning with the awaited rank and the operation.
    #[must_use]
    pub fn warn_after(self, warn_after: Duration) -> Self {
        Self { warn_after: Some(warn_after), ..self }
    }

    /// Sets the maximum size of a message piece under MPI, in bytes: from 1 to 2³⁰. Larger messages
    /// are divided.
    #[must_use]
    pub fn piece_bytes(self, piece_bytes: usize) -> Self {
        Self { piece_bytes: Some(piece_bytes), ..self }
    }

    /// Sets whether a failed run under MPI ends the program with one report.
    ///
    /// If set, the process of the first failed rank (the lowest of several) reports the failure on
    /// standard error, and all processes exit with code 1. If not set, each process returns an
    /// error.
    #[must_use]
    pub fn exit_on_failure(self, exit: bool) -> Self {
        Self { exit_on_failure: exit, ..self }
    }

    /// Sets the file for the timeline of all ranks: the start and end of each operation and wait,
    /// and the awaited rank. Rank 0 writes the file at the end of the run, also after a failure.
    /// The format is Chrome's trace events in JSON, one process per rank, for Perfetto
    /// (`ui.perfetto.dev`).
    ///
    /// * Under MPI, the setting of rank 0 decides.
    /// * Each rank keeps its latest 2¹⁸ spans. A warning gives the number of lost spans.
    /// * Times count from the start of the run. Under MPI, clocks of ranks differ by the latency of
    ///   a few messages.
    /// * The last of several runs of a process overwrites the file.
    ///
    /// A file that cannot be created is an error at the start of the run. A failed write at the end
    /// of the run is a warning.
    #[must_use]
    pub fn trace(self, file: impl Into<PathBuf>) -> Self {
        Self { trace: Some(file.into()), ..self }
    }

    /// Sets the stack size of the thread of each rank, in bytes: from 2¹⁶ to 2³⁴.
    #[must_use]
    pub fn stack_bytes(self, stack_bytes: usize) -> Self {
        Self { stack_bytes: Some(stack_bytes), ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestedRanks {
    pub count: usize,
    /// `"Config"` or `"ZIPPY_RANKS"`.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for MPI"))]
    pub source: &'static str,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Start {
    Threads(usize),
    /// Processes of an MPI launcher. The requested number of ranks must equal the size of the MPI
    /// world.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for MPI"))]
    Mpi {
        launcher: Launcher,
        requested: Option<RequestedRanks>,
    },
}

/// Checks of a run. Each variant includes the checks of the previous variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checks {
    Off,
    /// Calls are compared between ranks.
    Calls,
    /// Also checks ghost cells and helper positions.
    All,
    /// Findings fail the run at its end.
    AllFailing,
}

/// Configuration with a value for every setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    pub start: Start,
    pub checks: Checks,
    pub wait_limits: WaitLimits,
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for MPI"))]
    pub piece_bytes: usize,
    pub stack_bytes: usize,
    #[cfg_attr(not(feature = "mpi"), allow(dead_code, reason = "for MPI"))]
    pub exit_on_failure: bool,
    pub trace: Option<PathBuf>,
}

impl Settings {
    /// Fills the unset settings of a configuration from the environment and the defaults.
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
        let requested = match config.ranks {
            Ranks::Auto => from_environment.map(|count| RequestedRanks { count, source: "ZIPPY_RANKS" }),
            Ranks::Threads(count) | Ranks::Apart(count) => Some(RequestedRanks { count, source: "Config" }),
        };
        if let Some(RequestedRanks { count, .. }) = requested
            && !(1..=MAX_THREADS).contains(&count)
        {
            return Err(setting("ranks", count.to_string(), &format!("a number of ranks from 1 to {MAX_THREADS}")));
        }
        let start = match detect_launcher(&variable).filter(|_| !matches!(config.ranks, Ranks::Apart(_))) {
            Some(launcher) if with_mpi => Start::Mpi { launcher, requested },
            Some(launcher) => return Err(TransportError::NeedsMpi { launcher: launcher.to_string() }),
            None => Start::Threads(requested.map_or(1, |requested| requested.count)),
        };
        let from_config = config.check.map(|check| if check { Checking::Warning } else { Checking::Off });
        let checks = match from_config.or(environment::check(&variable)?) {
            Some(Checking::Failing) => Checks::AllFailing,
            Some(Checking::Warning) => Checks::All,
            None if cfg!(debug_assertions) => Checks::Calls,
            None | Some(Checking::Off) => Checks::Off,
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
            wait_limits: WaitLimits {
                restarts_on_answer: false,
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
    fn program_overrides_number_of_ranks_of_environment() {
        let start = |config: &Config, pairs: &[(&str, &str)]| resolve(config, pairs, true).unwrap().start;
        assert_eq!(start(&Config::new(), &[]), Start::Threads(1));
        assert_eq!(start(&Config::new(), &[("ZIPPY_RANKS", "3")]), Start::Threads(3));
        assert_eq!(start(&Config::threads(5), &[("ZIPPY_RANKS", "3")]), Start::Threads(5));
        let under = [("OMPI_COMM_WORLD_SIZE", "4"), ("ZIPPY_RANKS", "3")];
        assert_eq!(start(&Config::apart(2), &under), Start::Threads(2));
        let Start::Mpi { launcher, requested } = start(&Config::new(), &under) else { panic!("no MPI") };
        let expected = RequestedRanks { count: 3, source: "ZIPPY_RANKS" };
        assert_eq!((launcher.size, requested), (Some(4), Some(expected)));
        let Start::Mpi { requested, .. } = start(&Config::threads(4), &under) else { panic!("no MPI") };
        assert_eq!(requested, Some(RequestedRanks { count: 4, source: "Config" }));
    }

    #[test]
    fn launcher_in_build_without_mpi_is_an_error() {
        for pair in [("OMPI_COMM_WORLD_SIZE", "4"), ("PMI_SIZE", "2"), ("PMIX_RANK", "0"), ("PMI_RANK", "1")] {
            let error = resolve(&Config::new(), &[pair], false).unwrap_err().to_string();
            assert!(error.contains("--features mpi") && error.contains(pair.0), "{error}");
            assert!(resolve(&Config::threads(2), &[pair], false).is_err());
            assert_eq!(resolve(&Config::apart(2), &[pair], false).unwrap().start, Start::Threads(2));
        }
        assert_eq!(resolve(&Config::new(), &[], false).unwrap().start, Start::Threads(1));
    }

    #[test]
    fn open_settings_get_defaults_and_invalid_ones_are_errors() {
        let defaults = resolve(&Config::new(), &[], true).unwrap();
        assert_eq!(defaults.wait_limits.timeout, Some(Duration::from_secs(300)));
        assert_eq!(defaults.wait_limits.warn_after, Duration::from_secs(10));
        let set = resolve(&Config::new(), &[("ZIPPY_TIMEOUT_SECS", "7")], true).unwrap();
        assert_eq!(set.wait_limits.timeout, Some(Duration::from_secs(7)));
        let own = Config::new().timeout(Duration::from_secs(2));
        let own = resolve(&own, &[("ZIPPY_TIMEOUT_SECS", "7")], true).unwrap();
        assert_eq!(own.wait_limits.timeout, Some(Duration::from_secs(2)));
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
