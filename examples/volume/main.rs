//! A scanned volume, or a phantom, rendered by several ranks into one picture: the paper's section 5.1. `--help` says how.

mod cut;
mod job;
mod look;
mod options;
mod report;
mod source;
mod view;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Parser;
use zippy::algorithms::image::{Difference, difference_8bit};
use zippy::error::Error;
use zippy::io::png;
use zippy::transport::TransportKind;
use zippy::{Config, Result};

use cut::Cut;
use job::{Job, Rendered};
use options::Options;
use report::{Verdict, passes};

/// Whether the error that ends this process has been said.
static SAID: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            if !SAID.load(Ordering::Relaxed) {
                eprintln!("error: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Renders, compares and reports; whether everything is as it should be.
fn run(options: &Options) -> Result<bool> {
    let started = Instant::now();
    let job = Job { options, cut: options.cut(), write: true, link: None, started };
    if options.view {
        return view::run("Zippy volume", |link| start(&Job { link: Some(link), ..job }).map(drop)).map(|()| true);
    }
    let rendered = start(&job)?;
    // Under MPI only one process has the picture.
    let Some(rendered) = rendered.into_iter().flatten().next() else { return Ok(true) };
    let total_secs = started.elapsed().as_secs_f64();
    let single = options.compare_single.then(|| compare_single(options, &rendered)).transpose()?;
    let reference = match &options.reference {
        None => None,
        Some(path) => Some((path.display().to_string(), compare_file(options, path)?)),
    };
    let output = std::path::absolute(&options.output).unwrap_or_else(|_| options.output.clone());
    let verdict = Verdict {
        size: (rendered.image.width, rendered.image.height),
        output: output.display().to_string(),
        total_secs,
        single,
        reference,
    };
    if options.json {
        eprintln!("{}", rendered.report.text(&verdict));
        println!("{}", rendered.report.json(&verdict));
    } else {
        println!("{}", rendered.report.text(&verdict));
    }
    Ok(single.is_none_or(passes))
}

/// Runs a job on all ranks.
fn start(job: &Job) -> Result<Vec<Option<Rendered>>> {
    zippy::run_with(job.options.config(), |world| {
        let result = job.run(world);
        if let (Err(error), TransportKind::Mpi) = (&result, world.group().kind()) {
            // Now, and by one rank: a launcher ends the others as soon as one process has failed.
            if world.rank() == 0 {
                eprintln!("error: {error}");
            }
            SAID.store(true, Ordering::Relaxed);
        }
        result
    })
}

/// The same picture by one rank with the volume uncut (or as little as its buffers allow), in a world of its own that has
/// nothing of the first one.
fn compare_single(options: &Options, rendered: &Rendered) -> Result<Difference> {
    let job = Job { options, cut: Cut::Auto, write: false, link: None, started: Instant::now() };
    let alone = zippy::run_with(Config::apart(1), |world| job.run(world))?.into_iter().flatten().next();
    let alone = alone.ok_or_else(|| Error::program("one rank has rendered no picture"))?;
    Ok(rendered.image.difference(&alone.image)?)
}

/// The picture as it was written against one in a file.
fn compare_file(options: &Options, path: &Path) -> Result<Difference> {
    let reference = png::read(path)?;
    let picture = png::read(&options.output)?;
    let (ours, theirs) = ((picture.width, picture.height), (reference.width, reference.height));
    if ours != theirs {
        let message = format!("{} has {theirs:?} pixels, the picture has {ours:?}", path.display());
        return Err(Error::program(message));
    }
    Ok(difference_8bit(&picture.bytes, &reference.bytes))
}
