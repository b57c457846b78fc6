//! What the environment says: the launcher that started this process, and the `ZIPPY_…` variables.

use std::time::Duration;

use crate::error::TransportError;

/// More threads than this are a mistake.
pub(crate) const MAX_THREADS: usize = 4096;

/// An MPI launcher, as its variables show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launcher {
    /// The variable that shows it.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
    /// The number of processes it started, where it says so.
    pub size: Option<usize>,
}

impl std::fmt::Display for Launcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.variable, self.value)
    }
}

/// (variable, whether it holds the number of processes, the smallest number that means anything).
///
/// Slurm sets its variable for plain steps of one task too, where no MPI need be meant.
const LAUNCHERS: [(&str, bool, usize); 8] = [
    ("OMPI_COMM_WORLD_SIZE", true, 1),
    ("PMI_SIZE", true, 1),
    ("MV2_COMM_WORLD_SIZE", true, 1),
    ("JSM_NAMESPACE_SIZE", true, 1),
    ("FLUX_JOB_SIZE", true, 2),
    ("SLURM_STEP_NUM_TASKS", true, 2),
    ("PMIX_RANK", false, 0),
    ("PMI_RANK", false, 0),
];

/// A variable of this process' environment.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// The MPI launcher that started a process with these variables.
pub fn detect_launcher(variable: impl Fn(&str) -> Option<String>) -> Option<Launcher> {
    LAUNCHERS.iter().find_map(|&(name, counts, least)| {
        let value = variable(name)?;
        let size: Option<usize> = if counts { Some(value.trim().parse().ok()?) } else { None };
        (size.is_none_or(|size| size >= least)).then_some(Launcher { variable: name, value, size })
    })
}

fn refuse(name: &str, value: String, expected: &str) -> TransportError {
    TransportError::Variable { name: name.into(), value, expected: expected.into() }
}

/// A number of ranks, 1 or more.
pub(crate) fn ranks(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<usize>, TransportError> {
    let Some(value) = variable("ZIPPY_RANKS") else { return Ok(None) };
    match value.trim().parse() {
        Ok(ranks) if (1..=MAX_THREADS).contains(&ranks) => Ok(Some(ranks)),
        _ => Err(refuse("ZIPPY_RANKS", value, &format!("a number of ranks from 1 to {}", MAX_THREADS))),
    }
}

fn switch(name: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<Option<bool>, TransportError> {
    let Some(value) = variable(name) else { return Ok(None) };
    match value.trim() {
        "1" => Ok(Some(true)),
        "0" => Ok(Some(false)),
        _ => Err(refuse(name, value, "0 or 1")),
    }
}

/// Whether a run is checked, and whether its findings are its failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checking {
    Off,
    Warning,
    Failing,
}

/// How a run is checked.
pub(crate) fn check(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Checking>, TransportError> {
    let Some(value) = variable("ZIPPY_CHECK") else { return Ok(None) };
    match value.trim() {
        "0" => Ok(Some(Checking::Off)),
        "1" => Ok(Some(Checking::Failing)),
        "warn" => Ok(Some(Checking::Warning)),
        _ => Err(refuse("ZIPPY_CHECK", value, "0, 1 or warn")),
    }
}

/// Whether every process reports a failure.
pub(crate) fn verbose(variable: &impl Fn(&str) -> Option<String>) -> Result<bool, TransportError> {
    Ok(switch("ZIPPY_VERBOSE", variable)?.unwrap_or(false))
}

/// After what time a wait fails.
pub(crate) fn timeout(variable: &impl Fn(&str) -> Option<String>) -> Result<Option<Duration>, TransportError> {
    let Some(value) = variable("ZIPPY_TIMEOUT_SECS") else { return Ok(None) };
    let seconds = value.trim().parse::<f64>().ok().filter(|&seconds| seconds > 0.0);
    match seconds.map(Duration::try_from_secs_f64) {
        Some(Ok(timeout)) => Ok(Some(timeout)),
        _ => Err(refuse("ZIPPY_TIMEOUT_SECS", value, "a number of seconds above 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &'static [(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn launchers_are_told_by_their_variables() {
        assert_eq!(detect_launcher(of(&[])), None);
        assert_eq!(detect_launcher(of(&[("PATH", "/bin"), ("SLURM_JOB_ID", "7")])), None);
        let open_mpi = detect_launcher(of(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "0")])).unwrap();
        assert_eq!((open_mpi.variable, open_mpi.size), ("OMPI_COMM_WORLD_SIZE", Some(4)));
        assert_eq!(open_mpi.to_string(), "OMPI_COMM_WORLD_SIZE=4");
        assert_eq!(detect_launcher(of(&[("PMI_SIZE", "1"), ("PMI_RANK", "0")])).unwrap().size, Some(1));
        assert_eq!(detect_launcher(of(&[("PMIX_RANK", "3")])).unwrap().size, None);
        assert_eq!(detect_launcher(of(&[("SLURM_STEP_NUM_TASKS", "1")])), None);
        assert_eq!(detect_launcher(of(&[("SLURM_STEP_NUM_TASKS", "8")])).unwrap().size, Some(8));
    }

    #[test]
    fn variables_are_read_or_refused() {
        assert_eq!(ranks(&of(&[])), Ok(None));
        assert_eq!(ranks(&of(&[("ZIPPY_RANKS", " 3 ")])), Ok(Some(3)));
        for bad in ["0", "-1", "four", "", "1e3", "99999999"] {
            let error = ranks(&|_: &str| Some(bad.to_owned())).unwrap_err().to_string();
            assert!(error.contains("ZIPPY_RANKS") && error.contains(bad) && error.contains("from 1"), "{error}");
        }
        assert_eq!(check(&of(&[("ZIPPY_CHECK", "0")])), Ok(Some(Checking::Off)));
        assert_eq!(check(&of(&[("ZIPPY_CHECK", "1")])), Ok(Some(Checking::Failing)));
        assert_eq!(check(&of(&[("ZIPPY_CHECK", "warn")])), Ok(Some(Checking::Warning)));
        assert!(check(&of(&[("ZIPPY_CHECK", "yes")])).unwrap_err().to_string().contains("0, 1 or warn"));
        assert_eq!(verbose(&of(&[])), Ok(false));
        assert_eq!(verbose(&of(&[("ZIPPY_VERBOSE", "1")])), Ok(true));
        assert_eq!(timeout(&of(&[("ZIPPY_TIMEOUT_SECS", "2.5")])), Ok(Some(Duration::from_millis(2500))));
        for bad in ["0", "-3", "nan", "inf", "soon", ""] {
            let error = timeout(&|_: &str| Some(bad.to_owned())).unwrap_err().to_string();
            assert!(error.contains("ZIPPY_TIMEOUT_SECS") && error.contains("seconds"), "{error}");
        }
    }
}
