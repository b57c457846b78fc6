//! Fuzzer of readers: damages valid files, stores, checkpoints, messages and recordings, and reads
//! them. Inputs are numbered; a seed and a number always give the same input. Worker w of n reads
//! the inputs w, w + n, w + 2n and so on. The main process supervises the workers, so the run
//! continues after an input that crashes or stops a worker.

#[path = "../../crates/io/tests/common/mod.rs"]
mod common;
mod invalid_values;
mod meshes;
mod messages;
mod mutate;
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
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
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

/// Damages valid files of every format, stores, checkpoints, messages, recordings and answers of
/// programs, and reads them. Keeps each input that causes a panic, takes too much time or memory,
/// or causes an error message that is too long or has control characters; the exit code is 1 then.
#[derive(Parser, Debug, Clone)]
#[command(name = "fuzz")]
pub struct Options {
    /// Target to read; may be repeated. Default: all targets, one after the other
    #[arg(long = "target", value_name = "NAME")]
    pub targets: Vec<Target>,

    /// Duration of the whole run. Default: 1; with --inputs, no limit
    #[arg(long, value_name = "N", value_parser = minutes)]
    pub minutes: Option<f64>,

    /// Number of inputs of each target
    #[arg(long, value_name = "N", value_parser = whole_number(0))]
    pub inputs: Option<u64>,

    /// Seed of the inputs: the same seed gives the same inputs. Default: the time
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(0))]
    pub seed: Option<u64>,

    /// Number of worker processes
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: u16,

    /// Time limit of an input; a longer time is a finding
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = whole_number(1))]
    pub limit: u64,

    /// Directory for findings
    #[arg(long, value_name = "DIR", default_value = "target/fuzz")]
    pub keep: PathBuf,

    /// Read the files of one finding instead
    #[arg(long, value_name = "DIR", conflicts_with_all = ["targets", "minutes", "inputs", "seed", "workers"])]
    pub replay: Option<PathBuf>,

    /// Print the result as one line of JSON
    #[arg(long)]
    pub json: bool,

    /// Run as a worker that starts with this input
    #[arg(long, value_name = "NUMBER", hide = true, requires = "folder")]
    pub first: Option<u64>,

    /// Directory for the files of this worker's inputs
    #[arg(long, value_name = "DIR", hide = true)]
    pub folder: Option<PathBuf>,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    // At most 100 days.
    let is_valid = minutes > 0.0 && minutes <= 144_000.0;
    if is_valid { Ok(minutes) } else { Err(format!("{minutes} minutes; they must be above 0, and at most 144000")) }
}

fn whole_number(least: u64) -> impl Fn(&str) -> Result<u64, String> + Clone {
    move |text| match text.parse::<u64>() {
        Ok(number) if number >= least => Ok(number),
        _ => Err(format!("it must be a whole number of at least {least}")),
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
            Ok(line) => print_result(line, ExitCode::SUCCESS),
            Err(line) => {
                complain(line);
                ExitCode::FAILURE
            }
        };
    }
    let targets = if options.targets.is_empty() { Target::ALL.to_vec() } else { options.targets.clone() };
    let total = options.minutes.or(options.inputs.is_none().then_some(1.0));
    let time = total.map_or(Duration::MAX, |minutes| Duration::from_secs_f64(minutes * 60.0 / targets.len() as f64));
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
    let has_findings = all.iter().any(|(_, tally)| !tally.findings.is_empty());
    let code = if has_findings { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    if options.json {
        let targets: serde_json::Map<_, _> = all.iter().map(|(name, tally)| (name.clone(), tally.json())).collect();
        return print_result(serde_json::json!({"seed": seed, "targets": targets}).to_string(), code);
    }
    code
}

fn failed(text: &str) -> ExitCode {
    complain(format_args!("fuzz: {text}"));
    ExitCode::from(2)
}

fn print_result(result: String, code: ExitCode) -> ExitCode {
    say(result).map_or_else(
        |error| {
            complain(format_args!("fuzz: {error}"));
            ExitCode::from(2)
        },
        |()| code,
    )
}
