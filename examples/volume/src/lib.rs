//! A scanned volume, or a phantom, rendered by several ranks into one picture: the paper's section 5.1. `volume --help`
//! says how; this library is what the program and its tests share.
#![forbid(unsafe_code)]

pub mod appearance;
#[path = "../../support/arrays.rs"]
pub mod arrays;
pub mod choices;
pub mod clock;
pub mod compile;
pub mod cut;
#[path = "../../support/interrupt.rs"]
pub mod interrupt;
pub mod irregular;
pub mod isosurface;
pub mod job;
pub mod keyframes;
#[cfg(feature = "view")]
#[path = "../../support/link.rs"]
mod link;
pub mod look;
pub mod measured;
pub mod movie;
pub mod numbers;
pub mod options;
pub mod output;
pub mod parse;
pub mod phase;
pub mod pose;
#[path = "../../support/raw_input.rs"]
pub mod raw_input;
pub mod report;
#[path = "../../support/say.rs"]
pub mod say;
pub mod scene;
pub mod setting;
pub mod sink;
#[path = "../../support/sizes.rs"]
pub mod sizes;
pub mod source;
#[path = "../../support/units.rs"]
pub mod units;
#[cfg_attr(not(feature = "view"), path = "no_view.rs")]
pub mod view;
#[path = "../../support/words.rs"]
mod words;

use std::path::Path;
use std::time::Instant;

use zippy::{Config, Error, Result};
use zippy_io::image::{Difference, difference_8bit};
use zippy_io::png;

use cut::Decomposition;
use job::Job;
use options::Options;
use report::Verdict;
use say::{complain, say};
use scene::Rendered;

/// Renders, compares and reports; whether everything is as it should be.
///
/// # Errors
/// What went wrong, on whatever rank.
pub fn run(options: &Options) -> Result<bool> {
    let started = Instant::now();
    let job = Job { options, spread: options.decomposition(), write: true, link: None, started };
    if options.view {
        return view::run("Zippy volume", |link| start(&Job { link: Some(link), ..job }).map(drop)).map(|()| true);
    }
    let rendered = start(&job)?;
    // Under MPI only one process has the picture.
    let Some(rendered) = rendered.into_iter().flatten().next() else { return Ok(true) };
    let total_secs = started.elapsed().as_secs_f64();
    let single = options.check.compare_single.then(|| compare_single(options, &rendered)).transpose()?;
    let reference = match &options.check.reference {
        None => None,
        Some(path) => Some((path.display().to_string(), compare_file(&rendered, path)?)),
    };
    let verdict = Verdict {
        size: (rendered.image.width, rendered.image.height),
        output: options.output().name(),
        total_secs,
        single,
        reference,
    };
    let text = rendered.report.text(&verdict);
    if options.check.json {
        complain(text);
        say(rendered.report.json(&verdict))?;
    } else {
        say(text)?;
    }
    Ok(rendered.report.passes(&verdict))
}

/// Runs a job on all ranks.
fn start(job: &Job) -> Result<Vec<Option<Rendered>>> {
    let config = job.options.config().exit_on_failure(!job.options.check.verbose);
    zippy::run_with(config, |world| job.run(world))
}

/// The same picture by one rank with the volume uncut (or as little as its buffers allow), in a world of its own that
/// has nothing of the first one.
fn compare_single(options: &Options, rendered: &Rendered) -> Result<Difference> {
    let job = Job { options, spread: Decomposition::WHOLE, write: false, link: None, started: Instant::now() };
    let alone = zippy::run_with(Config::apart(1), |world| job.run(world))?.into_iter().flatten().next();
    let alone = alone.ok_or_else(|| Error::program("one rank has rendered no picture"))?;
    Ok(rendered.image.difference(&alone.image)?)
}

/// The picture over its background against one in a file.
fn compare_file(rendered: &Rendered, path: &Path) -> Result<Difference> {
    let reference = png::read(path, Some((rendered.image.width, rendered.image.height)))?;
    Ok(difference_8bit(&rendered.image.over_background(rendered.background), &reference.bytes))
}
