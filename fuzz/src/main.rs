//! Damages valid files, stores, checkpoints, messages and recordings and reads them, for minutes or hours. `cargo xtask fuzz`
//! builds and starts it.
//!
//! Input number n of a seed is always the same. Workers, processes of their own, take every so manieth; this process
//! watches them. Nothing that an input does to a worker ends the run.

#[path = "../../crates/io/tests/common/mod.rs"]
mod common;
mod damage;
mod meshes;
mod messages;
mod nonsense;
mod run;
mod samples;
mod stores;
mod tally;
mod target;
#[cfg(test)]
mod tests;
#[path = "../../debugger/tests/viewer/tour.rs"]
mod tour;
mod viewer;
#[path = "../../examples/support/words.rs"]
mod words;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::Parser;
use volume::say::{complain, say};

use common::counting::Counting;
use common::volumes::Folder;
use target::Target;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Damages valid files of every format, stores, checkpoints, messages, recordings and answers of programs, and reads them.
/// What panics, takes too much time or memory, or makes a message that is not fit for a terminal is kept, and makes the exit
/// code 1.
#[derive(Parser, Debug, Clone)]
#[command(name = "fuzz")]
pub struct Options {
    /// What is read, again for several. Default: everything, one after the other
    #[arg(long = "target", value_name = "NAME")]
    pub targets: Vec<Target>,

    /// How long, all together. Default: 1, or as long as --inputs take
    #[arg(long, value_name = "N", value_parser = minutes)]
    pub minutes: Option<f64>,

    /// So many inputs of each target
    #[arg(long, value_name = "N", value_parser = whole(0))]
    pub inputs: Option<u64>,

    /// Inputs are the same for the same number. Default: another one each time
    #[arg(long, value_name = "NUMBER", value_parser = whole(0))]
    pub seed: Option<u64>,

    /// Processes that read
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: u16,

    /// An input that takes longer is a finding
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = whole(1))]
    pub limit: u64,

    /// The directory for findings
    #[arg(long, value_name = "DIR", default_value = "target/fuzz")]
    pub keep: PathBuf,

    /// Reads the files of one finding, here and now
    #[arg(long, value_name = "DIR", conflicts_with_all = ["targets", "minutes", "inputs", "seed", "workers"])]
    pub replay: Option<PathBuf>,

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
    let fits = minutes > 0.0 && minutes <= 144_000.0;
    if fits { Ok(minutes) } else { Err(format!("{minutes} minutes; they must be above 0, and at most 144000")) }
}

/// Reads a whole number of at least `least`.
fn whole(least: u64) -> impl Fn(&str) -> Result<u64, String> + Clone {
    move |text| match text.parse::<u64>() {
        Ok(number) if number >= least => Ok(number),
        _ => Err(format!("a whole number from {least} on is needed")),
    }
}

fn main() -> ExitCode {
    let options = Options::parse_from(words::with_negative_numbers(std::env::args_os()));
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = options.seed.unwrap_or_else(clock);
    if let (Some(first), Some(folder), [target]) = (options.first, options.folder.clone(), &options.targets[..]) {
        return match worker::work(*target, seed, first, options.workers, &Folder(folder)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(text) => failed(&text),
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
    let targets = if options.targets.is_empty() { Target::ALL.to_vec() } else { options.targets.clone() };
    let whole = options.minutes.or(options.inputs.is_none().then_some(1.0));
    let time = whole.map_or(Duration::MAX, |minutes| Duration::from_secs_f64(minutes * 60.0 / targets.len() as f64));
    let mut all = Vec::new();
    for target in targets {
        match run::run(&options, target, seed, time, options.inputs.unwrap_or(u64::MAX)) {
            Ok(tally) => {
                if !options.json && say(format!("{}: {}", target.name(), tally.text(seed))).is_err() {
                    return ExitCode::from(2);
                }
                all.push((target.name(), tally));
            }
            Err(error) => return failed(&error),
        }
    }
    let found = all.iter().any(|(_, tally)| !tally.findings.is_empty());
    let code = if found { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if options.json {
        let targets: serde_json::Map<_, _> = all.iter().map(|(name, tally)| (name.clone(), tally.json())).collect();
        return told(serde_json::json!({"seed": seed, "targets": targets}).to_string(), code);
    }
    code
}

fn failed(text: &str) -> ExitCode {
    complain(format_args!("fuzz: {text}"));
    ExitCode::from(2)
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
