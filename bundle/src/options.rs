//! The command line of `run-all`.

use std::path::PathBuf;

use clap::Parser;

/// Minutes that all parts take together unless another number is given.
pub const MINUTES: f64 = 8.0;

/// Runs tests and benchmarks on this machine's GPU: no toolchain, no network and no MPI are needed.
///
/// Parts run in the order of their worth, each within its own time, and each writes its result when it ends:
/// a run that is stopped early leaves the results of the parts before. A software adapter needs about
/// four times as long (`--minutes 32`).
#[derive(Debug, Parser)]
#[command(name = "run-all", version)]
pub struct Options {
    /// Part of the adapter's name, or its number among those that are listed; the best one otherwise.
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,
    /// Fail unless the adapter is a GPU.
    #[arg(long)]
    pub gpu: bool,
    /// Run only this part (may be repeated).
    #[arg(long, value_name = "PART")]
    pub only: Vec<String>,
    /// Minutes for all parts together; the time of each part grows and shrinks with it.
    #[arg(long, default_value_t = MINUTES, value_parser = positive)]
    pub minutes: f64,
    /// Directory for results, logs and pictures; `zippy-results/HOST-TIME` otherwise, so that nodes and runs that share
    /// a file system keep theirs apart.
    #[arg(long, value_name = "DIRECTORY")]
    pub out: Option<PathBuf>,
    /// Print the names of the parts.
    #[arg(long)]
    pub list: bool,
}

fn positive(word: &str) -> Result<f64, String> {
    let minutes: f64 = word.parse().map_err(|_| "a number of minutes is needed")?;
    let fits = minutes.is_finite() && minutes > 0.0 && minutes <= 1e4;
    if fits { Ok(minutes) } else { Err("more than 0 and at most 10000 minutes are needed".into()) }
}
