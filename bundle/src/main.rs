//! Runs the parts of the bundle on a machine without a toolchain, each with a time limit, and
//! reports passed and failed tests, and the medians of benchmarks compared with the adapter's
//! limits.

mod adapters;
mod child;
mod limits;
mod manifest;
mod mpi;
mod options;
mod outcome;
mod parts;
mod report;
mod vulkan;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../examples/support/words.rs"]
mod words;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;

use child::StopFlag;
use manifest::Manifest;
use options::Options;
use parts::PARTS;
use report::Report;

fn main() -> ExitCode {
    let options = Options::parse_from(words::with_negative_numbers(std::env::args_os()));
    match run(&options) {
        Ok(all_well) => ExitCode::from(u8::from(!all_well)),
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "run-all: {message:#}");
            ExitCode::from(2)
        }
    }
}

/// Settings of a run that all parts share.
pub struct RunSetting {
    /// Directory of the unpacked archive.
    pub home: PathBuf,
    /// Directory of logs, pictures and results.
    pub out: PathBuf,
    /// Environment variables of every process.
    pub variables: Vec<(String, String)>,
    /// Flag that ends the run.
    pub stop: StopFlag,
}

fn run(options: &Options) -> Result<bool> {
    if options.list {
        for part in PARTS {
            say(&format!("{:20} {:>4} s  {}", part.name, part.limit_secs, part.about));
        }
        return Ok(true);
    }
    let chosen = parts::select_parts(&options.only)?;
    let program = std::env::current_exe().context("this program has no path")?;
    let home = program.parent().and_then(|bin| bin.parent()).context("this program is not in a directory `bin`")?;
    let manifest = Manifest::read(home)?;
    let out = options.out.clone().unwrap_or_else(report::default_directory);
    let out = std::path::absolute(&out).with_context(|| out.display().to_string())?;
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let mut setting = RunSetting { home: home.into(), out, variables: Vec::new(), stop: StopFlag::follow_signals()? };
    vulkan::prepare(&mut setting)?;
    let start = Instant::now();
    let total = Duration::from_secs_f64(options.minutes * 60.0);
    let adapters = adapters::list(&setting)?;
    let adapter = adapters::choose(&adapters, options)?;
    say(&format!("Adapter: {adapter}"));
    setting.variables.push(("ZIPPY_ADAPTER".into(), adapter.number.to_string()));
    let mut report = Report::new(&manifest, adapter, &setting.out, &options.only);
    for (index, part) in chosen.iter().enumerate() {
        let remaining = total.saturating_sub(start.elapsed());
        let limit = Duration::from_secs_f64(part.limit_secs as f64 * options.minutes / options::MINUTES).min(remaining);
        if limit < Duration::from_secs(1) || setting.stop.is_set() {
            report.leave_out(&chosen[index..]);
            break;
        }
        say(&format!("\n==> {}: {} (at most {:.0} s)", part.name, part.about, limit.as_secs_f64()));
        let outcome = part.run(&setting, limit);
        say(&outcome.summary());
        report.add(part, outcome)?;
    }
    say(&format!("\n{}", report.table()));
    say(&format!("Results: {}\nLogs and pictures: {}", report.file().display(), setting.out.display()));
    Ok(report.is_good())
}

/// Writes a line to standard output; errors such as a closed pipe are ignored, because the results
/// are in files.
pub fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush());
}
