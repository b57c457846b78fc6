//! Damages valid files of every format and reads them, for minutes or hours. `cargo xtask fuzz` builds and starts it.
//!
//! Input number n of a seed is always the same. Workers, processes of their own, take every so manieth; this process
//! watches them. Nothing that an input does to a worker ends the run.

#[path = "../../crates/io/tests/common/mod.rs"]
mod common;
mod damage;
mod input;
mod protocol;
mod run;
mod samples;
mod tally;
#[cfg(test)]
mod tests;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Parser;
use volume::say::{complain, say};

use common::counting::Counting;
use common::volumes::Folder;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Damages valid files of every format (NRRD, NIfTI, VTI, NumPy, MetaImage, raw, JSON) and reads them. What panics, takes
/// too much time or memory, or makes a message that is not fit for a terminal is kept, and makes the exit code 1.
#[derive(Parser, Debug, Clone)]
#[command(name = "fuzz")]
pub struct Options {
    /// How long
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = minutes)]
    pub minutes: f64,

    /// Inputs are the same for the same number. Default: another one each time
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,

    /// Processes that read
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: u16,

    /// An input that takes longer is a finding
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: u64,

    /// The directory for findings
    #[arg(long, value_name = "DIR", default_value = "target/fuzz")]
    pub keep: PathBuf,

    /// Reads the files of one finding, here and now
    #[arg(long, value_name = "DIR", conflicts_with_all = ["minutes", "seed", "workers"])]
    pub replay: Option<PathBuf>,

    /// Instead of files so many damaged messages between programs and viewers, here and now
    #[arg(long, value_name = "N", conflicts_with_all = ["minutes", "workers", "replay"])]
    pub messages: Option<u64>,

    /// The result as one line of JSON
    #[arg(long)]
    pub json: bool,

    /// Makes this process a worker that begins with this input
    #[arg(long, value_name = "NUMBER", hide = true, requires = "folder")]
    pub first: Option<u64>,

    /// Where this worker puts its inputs
    #[arg(long, value_name = "DIR", hide = true)]
    pub folder: Option<PathBuf>,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    // A hundred days.
    if minutes > 0.0 && minutes <= 144_000.0 { Ok(minutes) } else { Err("above 0, at most 144000".into()) }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = options.seed.unwrap_or_else(clock);
    if let (Some(first), Some(folder)) = (options.first, options.folder.clone()) {
        worker::work(seed, first, options.workers, Folder(folder));
        return ExitCode::SUCCESS;
    }
    if let Some(inputs) = options.messages {
        return match protocol::run(seed, inputs) {
            Ok(tally) => told(tally.said(seed, options.json), ExitCode::SUCCESS),
            Err(text) => {
                complain(format_args!("fuzz: {text}"));
                ExitCode::FAILURE
            }
        };
    }
    if let Some(folder) = &options.replay {
        return match worker::replay(folder) {
            Ok(line) => told(line, ExitCode::SUCCESS),
            Err(line) => {
                complain(line);
                ExitCode::FAILURE
            }
        };
    }
    let tally = run::run(&options, seed, Duration::from_secs_f64(options.minutes * 60.0));
    match tally {
        Ok(tally) => {
            let text = if options.json { tally.json(seed).to_string() } else { tally.text(seed) };
            told(text, if tally.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Err(error) => {
            complain(format_args!("fuzz: {error}"));
            ExitCode::from(2)
        }
    }
}

/// The exit code when this has been said: `code` if it could be.
fn told(result: String, code: ExitCode) -> ExitCode {
    say(result).map_or_else(
        |error| {
            complain(format_args!("fuzz: {error}"));
            ExitCode::from(2)
        },
        |()| code,
    )
}
