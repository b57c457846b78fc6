//! The command line of `run-all`.

use std::path::PathBuf;

use clap::Parser;

/// Default time limit of all parts together, in minutes.
pub(crate) const MINUTES: f64 = 8.0;

/// Runs tests and benchmarks on this machine's GPU: no toolchain, no network and no MPI are needed.
///
/// Parts run in order of importance, each with a time limit, and each writes its result when it
/// ends: a run that is stopped early keeps the results of the parts that ended. A software adapter
/// needs about four times as long (`--minutes 32`).
#[derive(Debug, Parser)]
#[command(name = "run-all", version)]
pub(crate) struct Options {
    /// Part of the adapter's name, or its number in the list of adapters; default: the best
    /// adapter.
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// Fail unless the adapter is a GPU.
    #[arg(long)]
    pub gpu: bool,
    /// Run only this part (can be repeated).
    #[arg(long, value_name = "PART")]
    pub only: Vec<String>,
    /// Time limit of all parts together, in minutes; the limit of each part is proportional to it.
    #[arg(long, default_value_t = MINUTES, value_parser = positive)]
    pub minutes: f64,
    /// Directory for results, logs and pictures; default: `zippy-results/HOST-TIME`, so that nodes
    /// and runs with a shared file system use different directories.
    #[arg(long, value_name = "DIRECTORY")]
    pub out: Option<PathBuf>,
    /// Print the names of the parts.
    #[arg(long)]
    pub list: bool,
}

fn positive(word: &str) -> Result<f64, String> {
    let minutes: f64 = word.parse().map_err(|_| "a number of minutes is needed")?;
    let is_valid = minutes.is_finite() && minutes > 0.0 && minutes <= 1e4;
    if is_valid { Ok(minutes) } else { Err("more than 0 and at most 10000 minutes are needed".into()) }
}
