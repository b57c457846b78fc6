//! Environment variables: detection of an MPI launcher, and parsers of `ZIPPY_…` variables.

use std::time::Duration;

use zippy_base::error::TransportError;

/// Maximum number of ranks as threads. A larger number is probably a typing error.
pub(crate) const MAX_THREADS: usize = 4096;

/// MPI launcher, detected by an environment variable of its processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// Name of the variable.
    pub variable: &'static str,
    /// Value of the variable.
    pub value: String,
    /// Number of processes, if the variable contains it.
    pub size: Option<usize>,
}

impl std::fmt::Display for Launcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.variable, self.value)
    }
}

#[derive(Clone, Copy)]
struct LauncherVariable {
    name: &'static str,
    /// True if the value is the number of processes.
    holds_size: bool,
    /// Minimum number of processes for a detection.
    minimum: usize,
}

/// Variables of launchers, in order of preference. Slurm also sets its variable for single tasks
/// without MPI.
const LAUNCHERS: [LauncherVariable; 8] = [
    LauncherVariable { name: "OMPI_COMM_WORLD_SIZE", holds_size: true, minimum: 1 },
    LauncherVariable { name: "PMI_SIZE", holds_size: true, minimum: 1 },
    LauncherVariable { name: "MV2_COMM_WORLD_SIZE", holds_size: true, minimum: 1 },
    LauncherVariable { name: "JSM_NAMESPACE_SIZE", holds_size: true, minimum: 1 },
    LauncherVariable { name: "FLUX_JOB_SIZE", holds_size: true, minimum: 2 },
    LauncherVariable { name: "SLURM_STEP_NUM_TASKS", holds_size: true, minimum: 2 },
    LauncherVariable { name: "PMIX_RANK", holds_size: false, minimum: 0 },
    LauncherVariable { name: "PMI_RANK", holds_size: false, minimum: 0 },
];

pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// Detects the MPI launcher that started a process. `variable` looks up an environment variable of
/// the process.
pub fn detect_launcher(variable: impl Fn(&str) -> Option<String>) -> Option<Launcher> {
    LAUNCHERS.iter().find_map(|&LauncherVariable { name, holds_size, minimum }| {
        let value = variable(name)?;
        let size: Option<usize> = if holds_size { Some(value.trim().parse().ok()?) } else { None };
        (size.is_none_or(|size| size >= minimum)).then_some(Launcher { variable: name, value, size })
    })
}

fn invalid_variable(name: &str, value: String, expected: &str) -> TransportError {
    TransportError::Variable { name: name.into(), value, expected: expected.into() }
}

/// Parses `ZIPPY_RANKS`: a number of ranks from 1 to [`MAX_THREADS`].
pub(crate) fn ranks(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<usize>, TransportError> {
    let Some(value) = variable("ZIPPY_RANKS") else { return Ok(None) };
    match value.trim().parse() {
        Ok(ranks) if (1..=MAX_THREADS).contains(&ranks) => Ok(Some(ranks)),
        _ => Err(invalid_variable("ZIPPY_RANKS", value, &format!("a number of ranks from 1 to {}", MAX_THREADS))),
    }
}

fn switch(name: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<Option<bool>, TransportError> {
    let Some(value) = variable(name) else { return Ok(None) };
    match value.trim() {
        "1" => Ok(Some(true)),
        "0" => Ok(Some(false)),
        _ => Err(invalid_variable(name, value, "0 or 1")),
    }
}

/// Values of `ZIPPY_CHECK`: no checks, findings as warnings, or findings that fail the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checking {
    Off,
    Warning,
    Failing,
}

pub(crate) fn check(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Checking>, TransportError> {
    let Some(value) = variable("ZIPPY_CHECK") else { return Ok(None) };
    match value.trim() {
        "0" => Ok(Some(Checking::Off)),
        "1" => Ok(Some(Checking::Failing)),
        "warn" => Ok(Some(Checking::Warning)),
        _ => Err(invalid_variable("ZIPPY_CHECK", value, "0, 1 or warn")),
    }
}

/// Parses `ZIPPY_VERBOSE`: true if every process returns the failure of a run.
pub(crate) fn verbose(variable: &impl Fn(&str) -> Option<String>) -> Result<bool, TransportError> {
    Ok(switch("ZIPPY_VERBOSE", variable)?.unwrap_or(false))
}

/// Parses `ZIPPY_TIMEOUT_SECS`: the time after which a wait fails.
pub(crate) fn timeout(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Duration>, TransportError> {
    let Some(value) = variable("ZIPPY_TIMEOUT_SECS") else { return Ok(None) };
    let seconds = value.trim().parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    match seconds.map(Duration::try_from_secs_f64) {
        Some(Ok(timeout)) => Ok(Some(timeout)),
        _ => Err(invalid_variable("ZIPPY_TIMEOUT_SECS", value, "a number of seconds above 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn launchers_are_detected_by_their_variables() {
        assert_eq!(detect_launcher(environment(&[])), None);
        assert_eq!(detect_launcher(environment(&[("PATH", "/bin"), ("SLURM_JOB_ID", "7")])), None);
        let open_mpi = detect_launcher(environment(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "0")])).unwrap();
        assert_eq!((open_mpi.variable, open_mpi.size), ("OMPI_COMM_WORLD_SIZE", Some(4)));
        assert_eq!(open_mpi.to_string(), "OMPI_COMM_WORLD_SIZE=4");
        assert_eq!(detect_launcher(environment(&[("PMI_SIZE", "1"), ("PMI_RANK", "0")])).unwrap().size, Some(1));
        assert_eq!(detect_launcher(environment(&[("PMIX_RANK", "3")])).unwrap().size, None);
        assert_eq!(detect_launcher(environment(&[("SLURM_STEP_NUM_TASKS", "1")])), None);
        assert_eq!(detect_launcher(environment(&[("SLURM_STEP_NUM_TASKS", "8")])).unwrap().size, Some(8));
    }

    #[test]
    fn invalid_values_of_variables_are_errors() {
        assert_eq!(ranks(&environment(&[])), Ok(None));
        assert_eq!(ranks(&environment(&[("ZIPPY_RANKS", " 3 ")])), Ok(Some(3)));
        for bad in ["0", "-1", "four", "", "1e3", "99999999"] {
            let error = ranks(&|_: &str| Some(bad.to_owned())).unwrap_err().to_string();
            assert!(error.contains("ZIPPY_RANKS") && error.contains(bad) && error.contains("from 1"), "{error}");
        }
        assert_eq!(check(&environment(&[("ZIPPY_CHECK", "0")])), Ok(Some(Checking::Off)));
        assert_eq!(check(&environment(&[("ZIPPY_CHECK", "1")])), Ok(Some(Checking::Failing)));
        assert_eq!(check(&environment(&[("ZIPPY_CHECK", "warn")])), Ok(Some(Checking::Warning)));
        assert!(check(&environment(&[("ZIPPY_CHECK", "yes")])).unwrap_err().to_string().contains("0, 1 or warn"));
        assert_eq!(verbose(&environment(&[])), Ok(false));
        assert_eq!(verbose(&environment(&[("ZIPPY_VERBOSE", "1")])), Ok(true));
        assert_eq!(timeout(&environment(&[("ZIPPY_TIMEOUT_SECS", "2.5")])), Ok(Some(Duration::from_millis(2500))));
        for bad in ["0", "-3", "nan", "inf", "soon", ""] {
            let error = timeout(&|_: &str| Some(bad.to_owned())).unwrap_err().to_string();
            assert!(error.contains("ZIPPY_TIMEOUT_SECS") && error.contains("seconds"), "{error}");
        }
    }
}
